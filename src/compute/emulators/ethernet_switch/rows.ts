// Rows of a switch's tables.

import type { SwitchPort } from '../../../api/kinds/ethernet-switches.ts';
import type { PortStatistics } from '../../../fabric/fabric.ts';

/** An entry of the table, as clients see it. */
export interface MacTableRow {
  vlan: number;
  /** `02:00:00:00:00:01` */
  mac_address: string;
  port_number: number;
  port_name: string;
  /** Whole seconds since the last frame from the address. */
  age: number;
}

/** A port in the console's list. */
export interface PortRow extends SwitchPort {
  vlan: number;
  /** Undefined without a link. */
  statistics: PortStatistics | undefined;
}
