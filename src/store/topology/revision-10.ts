// Converts revision 10, from releases 3.0, to revision 9. Only members differ; the files beside the topology are the same. Pure functions.
import * as v from 'valibot';
import { nodeKind } from '../../api/kinds/kinds.ts';
import { Topology } from '../../api/topology.ts';
import { NodeType } from '../../api/vocabulary.ts';
import { isObject, type JsonObject } from '../json.ts';
import type { Shape } from './unknown-members.ts';

/** Here null is a value: the slot is empty and does not get its default card. */
const CARD = /^(slot|wic)\d$/;
/** No compute of 2.2 accepts an empty text for "any address". */
const ADDRESS = 'mac_address';

export interface UpgradeOptions {
  /**
   * Links suspended in a file of revision 10 stay so. Otherwise they become active, as releases 3.0 open such a file.
   */
  keepSuspension?: boolean;
}

export function from10to9(document: JsonObject, { keepSuspension }: UpgradeOptions): JsonObject {
  const topology = document['topology'];
  if (!isObject(topology)) return document;
  const nodes = mapObjects(topology['nodes'], nodeOf);
  const links = keepSuspension ? topology['links'] : mapObjects(topology['links'], activeLink);
  const converted = { ...document, topology: { ...topology, nodes, links } };
  return withoutNulls(Topology as unknown as Shape, converted) as JsonObject;
}

/** Malformed parts are left unchanged: the schema reports them. */
function mapObjects(list: unknown, change: (one: JsonObject) => JsonObject): unknown {
  return Array.isArray(list) ? list.map((one: unknown) => (isObject(one) ? change(one) : one)) : list;
}

function activeLink({ suspend: _suspend, ...link }: JsonObject): JsonObject {
  return link;
}

function nodeOf({ aux: _aux, aux_type: _type, ...node }: JsonObject): JsonObject {
  const properties = node['properties'];
  if (!isObject(properties)) return node;
  const added = v.is(NodeType, node['node_type']) ? nodeKind(node['node_type']).addedByRelease3 : undefined;
  const kept = Object.entries(properties).filter(
    ([name, value]) =>
      name !== 'compute_id' &&
      !added?.includes(name) &&
      (value !== null || CARD.test(name)) &&
      !(name === ADDRESS && value === ''),
  );
  return { ...node, properties: Object.fromEntries(kept.map(([name, value]) => [name, propertyOf(name, value)])) };
}

/** Releases 3.0 give every port of a switch an ethertype, which is only meaningful for a tunnel. */
function propertyOf(name: string, value: unknown): unknown {
  if (name !== 'ports_mapping') return value;
  return mapObjects(value, (port) => {
    if (port['type'] === 'qinq') return port;
    const { ethertype: _ethertype, ...rest } = port;
    return rest;
  });
}

/** Releases 3.0 write null for a member without a value; revision 9 omits most of these. */
function withoutNulls(shape: Shape, value: unknown): unknown {
  if (shape.wrapped !== undefined) return withoutNulls(shape.wrapped, value);
  const { item, entries } = shape;
  if (item !== undefined && Array.isArray(value)) return value.map((one) => withoutNulls(item, one));
  if (entries === undefined || !isObject(value)) return value;
  const kept = Object.entries(value).filter(([name, member]) => member !== null || takesNull(entries[name]));
  return Object.fromEntries(
    kept.map(([name, member]) => [name, entries[name] ? withoutNulls(entries[name], member) : member]),
  );
}

/** A required member stays as well: the schema then reports it. */
function takesNull(shape: Shape | undefined): boolean {
  for (let at = shape; at !== undefined; at = at.wrapped) if (at.type === 'nullable') return true;
  return shape?.type !== 'optional';
}
