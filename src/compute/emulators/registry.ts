// The kinds of node that this compute runs. A new one is a folder here and a line below.
import type { NodeKind } from '../nodes/kind.ts';
import { cloud } from './cloud/index.ts';
import { ethernetHub } from './ethernet_hub/index.ts';
import { nat } from './nat/index.ts';
import { vpcs } from './vpcs/index.ts';

export const KINDS: readonly NodeKind[] = [cloud, ethernetHub, nat, vpcs];
