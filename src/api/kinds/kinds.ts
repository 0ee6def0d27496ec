// All kinds of nodes that the API names, in the order of the built-in templates.
import * as v from 'valibot';
import type { NodeType } from '../vocabulary.ts';
import { ABSENT_DEFAULTS, type AbsentSettings } from './absent-settings.ts';
import { atmSwitch, frameRelaySwitch } from './circuit-switches.ts';
import { cloud } from './cloud.ts';
import { docker } from './docker.ts';
import { dynamips } from './dynamips.ts';
import { ethernetHub, ethernetSwitch } from './ethernet-switches.ts';
import { iou } from './iou.ts';
import type { ImageFacts, NodeKindFacts, PortSource } from './kind.ts';
import { nat } from './nat.ts';
import type { Port } from './port.ts';
import type { Effect } from './property.ts';
import { qemu } from './qemu.ts';
import { traceng } from './traceng.ts';
import { TRAITS, type Traits } from './traits.ts';
import { virtualbox, vmware } from './virtual-machines.ts';
import { vpcs } from './vpcs.ts';

// biome-ignore format: a table
export const NODE_KINDS: readonly (NodeKindFacts & Traits)[] = [
  cloud, nat, vpcs, ethernetSwitch, ethernetHub, frameRelaySwitch, atmSwitch,
  docker, dynamips, iou, qemu, traceng, virtualbox, vmware,
].map((kind) => ({ ...kind, ...TRAITS[kind.type] }));

const BY_TYPE = new Map(NODE_KINDS.map((kind) => [kind.type as string, kind]));

export function nodeKind(type: NodeType): NodeKindFacts & Traits {
  return BY_TYPE.get(type)!;
}

/** The same for a word that may not be a node type. */
export function findNodeKind(type: string): (NodeKindFacts & Traits) | undefined {
  return BY_TYPE.get(type);
}

/** Properties that only the server sets, of any type. */
export const READ_ONLY_PROPERTIES: readonly string[] = NODE_KINDS.flatMap(({ properties }) =>
  Object.keys(properties).filter((name) => properties[name]!.readOnly),
);

/** Properties of a type that its host or the server gives, so that the file of a lab does not keep them. */
export function givenByHost(type: string): string[] {
  const { properties = {}, ownNumbers = [] } = findNodeKind(type) ?? {};
  const names = Object.keys(properties).filter((name) => properties[name]!.readOnly || properties[name]!.ofHost);
  return [...names, ...ownNumbers];
}

/** The console type of a node that is created without one; undefined for types without a choice. */
export function usualConsole(type: string): unknown {
  return findNodeKind(type)?.properties['console_type']?.node;
}

/** When a running node of the type takes on a change; undefined for an unknown or read-only property. */
export function effectOf(type: string, property: string): Effect | undefined {
  const { properties, effect = 'live' } = findNodeKind(type) ?? {};
  const row = properties && Object.hasOwn(properties, property) ? properties[property] : undefined;
  return row?.readOnly ? undefined : row && (row.effect ?? effect);
}

/** What a node has that is created without the property; undefined if its host chooses. */
export function defaultOf(type: string, property: string): unknown {
  const { properties = {} } = findNodeKind(type) ?? {};
  if (!Object.hasOwn(properties, property)) return undefined;
  const { node = ABSENT_DEFAULTS[property as keyof AbsentSettings] } = properties[property]!;
  return typeof node === 'function' ? undefined : node;
}

/** All ports of a node. @throws Failure `conflict` for a port name format that cannot be expanded */
export function portsOf(source: PortSource): Port[] {
  return nodeKind(source.node_type).ports(source);
}

/** Default properties of nodes of a type, as far as templates have them. */
export function usualProperties(type: NodeType): Readonly<Record<string, unknown>> {
  return v.getDefaults(v.object(nodeKind(type).template.members ?? {})) as Record<string, unknown>;
}

/** The default symbol of a type's templates. */
export function usualSymbol(type: NodeType): string {
  return `:/symbols/${nodeKind(type).template.symbol}.svg`;
}

/** Properties from the type's built-in template besides the defaults: the base configuration of a virtual PC. */
export function builtinProperties(type: NodeType): Readonly<Record<string, unknown>> {
  return (nodeKind(type).template.builtin?.settings?.['properties'] ?? {}) as Record<string, unknown>;
}

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
