// A PC's user settings besides addresses.

export const DEFAULT_NAME = 'VPCS';

export type DumpFlag = 'mac' | 'raw' | 'detail' | 'all';

export class PcSettings {
  name = DEFAULT_NAME;
  /** Name servers that were set by hand; those of DHCP stand in its lease. */
  dns: Buffer[] = [];
  domain = '';
  /** IPv6 by autoconfiguration, so that `save` writes it down. */
  autoconfigures = false;
  /** Whether scripts show their commands. */
  echoes = false;
  dump: DumpFlag[] = [];
}
