// Facts of each type of node that the page needs, too: in a file of its own, as a browser loads none of the kinds' schemas.
import type { NodeType } from '../vocabulary.ts';

export interface Traits {
  /** A part of the server: it runs as long as it exists, has no files, and hinders no export and no duplication. */
  readonly alwaysRuns?: true;
  /** It can stand still and go on. Suspending others changes nothing. */
  readonly suspends?: true;
  /** Its host may know which addresses it has while it runs: its own, or those leased by the NAT network. */
  readonly hasLiveAddresses?: true;
  /** The file whose lines it runs at its start. */
  readonly startupFile?: string;
}

const PART: Traits = { alwaysRuns: true };
const MACHINE: Traits = { suspends: true };
const PROGRAM: Traits = {};
const PC: Traits = { startupFile: 'startup.vpc', hasLiveAddresses: true };
const LEASING: Traits = { ...MACHINE, hasLiveAddresses: true };

// biome-ignore format: a table
export const TRAITS: Readonly<Record<NodeType, Traits>> = {
  cloud: PART, nat: PART, ethernet_hub: PART, ethernet_switch: PART, frame_relay_switch: PART, atm_switch: PART,
  docker: LEASING, dynamips: MACHINE, qemu: LEASING, virtualbox: MACHINE, vmware: MACHINE,
  vpcs: PC, traceng: PROGRAM, iou: PROGRAM,
};
