// What a switch tells of itself.
import type { PortStatistics } from '../../../fabric/fabric.ts';
import type { SwitchPort } from './schema.ts';

/** An entry of the table, as clients see it. */
export interface MacTableRow {
  vlan: number;
  /** `02:00:00:00:00:01` */
  mac_address: string;
  port_number: number;
  port_name: string;
  /** Whole seconds since the address was heard. */
  age: number;
}

/** A port as the console lists it. */
export interface PortRow extends SwitchPort {
  vlan: number;
  /** Undefined without a link. */
  statistics: PortStatistics | undefined;
}
