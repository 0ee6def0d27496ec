// Converts node settings between the flat form and the API's members and properties.
import { OMITTED_AT } from '../../../../api/kinds/absent-settings.ts';
import type { Field } from '../../../forms/schema.ts';
import { isEqual, MIXED } from '../../../forms/values.ts';
import type { NodeObject } from '../../../model/server/types.ts';
import { WORDS } from '../../../words.ts';

/** Members of the node itself; all other settings are properties. */
const MEMBERS: readonly string[] = [
  'name',
  'console',
  'console_type',
  'console_auto_start',
  'symbol',
  'locked',
  'start_order',
  'start_delay',
  'port_name_format',
  'port_segment_size',
  'first_port_name',
  'custom_adapters',
];

/** Settings shown elsewhere, as on a tab of their own. */
const ELSEWHERE: readonly string[] = ['ports_mapping', 'mappings'];

/** The settings of the General tab, in order: those that people need first, and those that are folded. */
const FIRST: readonly string[] = ['name', 'usage'];
const FOLDED: readonly string[] = [
  'symbol',
  'console_type',
  'console',
  'aux',
  'console_auto_start',
  'locked',
  'start_order',
  'start_delay',
];
const GENERAL: readonly string[] = [...FIRST, ...FOLDED];

/** All settings of a node. */
export function valuesOf(node: NodeObject): Record<string, unknown> {
  const members = node as unknown as Record<string, unknown>;
  return {
    ...node.properties,
    ...Object.fromEntries(MEMBERS.map((name) => [name, members[name] ?? OMITTED_AT[name]])),
  };
}

/** The request body for a change. */
export function bodyOf(changes: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  const properties: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(changes)) {
    if (MEMBERS.includes(name)) body[name] = value;
    else properties[name] = value;
  }
  return Object.keys(properties).length > 0 ? { ...body, properties } : body;
}

/** The fields of the General tab. @param isStarted whether the node is started, and thus has an order among others */
export function generalFields(members: readonly Field[], settings: readonly Field[], isStarted: boolean): Field[] {
  const field = (name: string): Field | undefined => {
    const own = settings.find((each) => each.name === name);
    // The type's own field is narrower; a type without a console has none.
    if (name.startsWith('console') && !settings.some((each) => each.name === 'console_type')) return undefined;
    if (name.startsWith('start_') && !isStarted) return undefined;
    return own ?? members.find((each) => each.name === name && name !== 'aux');
  };
  const inGroup = (names: readonly string[], group: string): Field[] =>
    names.flatMap((name) => field(name) ?? []).map((each) => ({ ...each, group }));
  return [...inGroup(FIRST, ''), ...inGroup(FOLDED, WORDS.node.more)];
}

/** The fields of the Settings tab: those of this type only. */
export function ownFields(members: readonly Field[], settings: readonly Field[], node: NodeObject): Field[] {
  const naming = members.filter(
    ({ name }) => NAMING.includes(name) && settings.some((field) => field.name === 'adapters'),
  );
  const values = valuesOf(node);
  return [...settings, ...naming]
    .filter(({ name, kind, readOnly, mayBeAbsent }) => {
      if (readOnly || kind === 'other' || GENERAL.includes(name) || ELSEWHERE.includes(name)) return false;
      // Some settings do not exist on every platform.
      return mayBeAbsent || name in values;
    })
    .map((field) => ({ ...field, required: false }));
}

const NAMING: readonly string[] = ['first_port_name', 'port_name_format', 'port_segment_size'];

/** Settings that belong to a single node or should differ. */
const SINGLE: readonly string[] = ['name', 'console', 'aux', 'mac_address', 'mac_addr', 'application_id', 'symbol'];

/** The common settings of nodes of several types. */
export function commonFields(members: readonly Field[], settings: readonly (readonly Field[])[]): Field[] {
  const [first = [], ...others] = settings;
  const shared = first.filter((field) =>
    others.every((own) => own.some(({ name, kind }) => name === field.name && kind === field.kind)),
  );
  const placing = members.filter(({ name }) => GENERAL.includes(name) && !name.startsWith('console'));
  return [...placing, ...shared]
    .filter(
      ({ name, kind, readOnly }, index, all) =>
        !(readOnly || kind === 'other' || kind === 'list' || SINGLE.includes(name) || ELSEWHERE.includes(name)) &&
        all.findIndex((each) => each.name === name) === index,
    )
    .map((field) => ({ ...field, required: false }));
}

/** The node after a change with a body of `bodyOf`, whose result are the changed fields. */
export function withResult(
  node: NodeObject,
  result: PromiseSettledResult<Readonly<Record<string, unknown>>>,
): NodeObject {
  const { properties, ...members } = result.status === 'fulfilled' ? result.value : {};
  return { ...node, ...members, properties: { ...node.properties, ...(properties as object | undefined) } };
}

/** The values that all nodes share; the others are `MIXED`. */
export function commonValues(nodes: readonly NodeObject[]): Record<string, unknown> {
  const all = nodes.map(valuesOf);
  const names = new Set(all.flatMap((values) => Object.keys(values)));
  const common = (name: string): unknown =>
    all.every((values) => isEqual(values[name], all[0]?.[name])) ? all[0]?.[name] : MIXED;
  return Object.fromEntries([...names].map((name) => [name, common(name)]));
}
