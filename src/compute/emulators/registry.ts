// The kinds of node that this compute runs. A new kind needs a folder here and a line below.
import type { NodeType } from '../../api/vocabulary.ts';
import { entriesOf, type NodeKind } from '../nodes/kind.ts';
import { atmSwitch } from './atm_switch/index.ts';
import { cloud } from './cloud/index.ts';
import { docker } from './docker/index.ts';
import { dynamips } from './dynamips/index.ts';
import { ethernetHub } from './ethernet_hub/index.ts';
import { ethernetSwitch } from './ethernet_switch/index.ts';
import { frameRelaySwitch } from './frame_relay_switch/index.ts';
import { iou } from './iou/index.ts';
import { nat } from './nat/index.ts';
import { qemu } from './qemu/index.ts';
import { traceng } from './traceng/index.ts';
import { virtualbox } from './virtualbox/index.ts';
import { vmware } from './vmware/index.ts';
import { vpcs } from './vpcs/index.ts';

export const KINDS: readonly NodeKind[] = [
  atmSwitch,
  cloud,
  docker,
  dynamips,
  ethernetHub,
  ethernetSwitch,
  frameRelaySwitch,
  iou,
  nat,
  qemu,
  traceng,
  virtualbox,
  vmware,
  vpcs,
];

const MEMBERS = new Map(KINDS.map(({ type, create }) => [type, new Set(Object.keys(entriesOf(create)))]));

/** All members of the type's creation body. */
export const creationMembers = (type: NodeType): ReadonlySet<string> => MEMBERS.get(type) ?? new Set();
