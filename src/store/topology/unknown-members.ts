// Removes members of a topology file that this release does not know, as other programs and later releases write some.
// They are logged, and the lab opens all the same.
import { Topology } from '../../api/topology.ts';
import { isObject, type JsonObject } from '../json.ts';

/** The parts of a valibot schema that describe members. */
export interface Shape {
  type: string;
  entries?: Record<string, Shape>;
  item?: Shape;
  wrapped?: Shape;
}

export interface Known {
  document: JsonObject;
  /** Paths of removed members, such as `topology.nodes[3].colour`. */
  unknown: string[];
}

/** The document with only known members. Malformed parts stay: the schema reports them. */
export function knownMembers(document: JsonObject): Known {
  const unknown: string[] = [];
  return { document: known(Topology as unknown as Shape, document, '', unknown) as JsonObject, unknown };
}

function known(shape: Shape, value: unknown, place: string, unknown: string[]): unknown {
  if (shape.wrapped !== undefined) return known(shape.wrapped, value, place, unknown);
  const { item, entries } = shape;
  if (item !== undefined && Array.isArray(value)) {
    return value.map((one, index) => known(item, one, `${place}[${index}]`, unknown));
  }
  if (shape.type !== 'strict_object' || entries === undefined || !isObject(value)) return value;
  const kept: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    const path = place === '' ? name : `${place}.${name}`;
    const inner = Object.hasOwn(entries, name) ? entries[name] : undefined;
    if (inner === undefined) unknown.push(path);
    else kept.push([name, known(inner, member, path, unknown)]);
  }
  return Object.fromEntries(kept);
}
