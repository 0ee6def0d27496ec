// All kinds of nodes that the API names, in the order of the built-in templates.
import * as v from 'valibot';
import type { NodeType } from '../vocabulary.ts';
import { atmSwitch, frameRelaySwitch } from './circuit-switches.ts';
import { cloud } from './cloud.ts';
import { docker } from './docker.ts';
import { dynamips } from './dynamips.ts';
import { ethernetHub, ethernetSwitch } from './ethernet-switches.ts';
import { iou } from './iou.ts';
import type { ImageFacts, NodeKindFacts, PortSource } from './kind.ts';
import { nat } from './nat.ts';
import type { Port } from './port.ts';
import { qemu } from './qemu.ts';
import { traceng } from './traceng.ts';
import { virtualbox, vmware } from './virtual-machines.ts';
import { vpcs } from './vpcs.ts';

// biome-ignore format: a table
export const NODE_KINDS: readonly NodeKindFacts[] = [
  cloud, nat, vpcs, ethernetSwitch, ethernetHub, frameRelaySwitch, atmSwitch,
  docker, dynamips, iou, qemu, traceng, virtualbox, vmware,
];

const BY_TYPE = new Map<string, NodeKindFacts>(NODE_KINDS.map((kind) => [kind.type, kind]));

/** What is special about the nodes of a type. */
export function nodeKind(type: NodeType): NodeKindFacts {
  return BY_TYPE.get(type)!;
}

/** The same for a word of which nobody knows yet whether it is a type. */
export function findNodeKind(type: string): NodeKindFacts | undefined {
  return BY_TYPE.get(type);
}

/** All ports of a node. @throws Failure `conflict` for a port name format that cannot be expanded */
export function portsOf(source: PortSource): Port[] {
  return nodeKind(source.node_type).ports(source);
}

/** The properties that nodes of a type have unless they are told others, so far as templates name them. */
export function usualProperties(type: NodeType): Readonly<Record<string, unknown>> {
  return v.getDefaults(v.object(nodeKind(type).template.members ?? {})) as Record<string, unknown>;
}

/** The id of a type's symbol, as its templates have it unless they name another. */
export function usualSymbol(type: NodeType): string {
  return `:/symbols/${nodeKind(type).template.symbol}.svg`;
}

/** What the built-in template of a type gives its nodes beside the usual properties: the base configuration of a virtual PC. */
export function builtinProperties(type: NodeType): Readonly<Record<string, unknown>> {
  return (nodeKind(type).template.builtin?.settings?.['properties'] ?? {}) as Record<string, unknown>;
}

/** A kind whose nodes have images. */
export interface ImageKind extends ImageFacts {
  readonly type: NodeType;
}

export const IMAGE_KINDS: readonly ImageKind[] = NODE_KINDS.flatMap(({ type, images }) =>
  images ? [{ type, ...images }] : [],
);

/** The images of a kind that has some. */
export function imageKind(type: NodeType): ImageKind {
  return IMAGE_KINDS.find((kind) => kind.type === type)!;
}
