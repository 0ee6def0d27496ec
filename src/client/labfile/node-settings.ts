// Checks a node's settings and finds its ports before anything is created, with the schemas of the server's routes.
import * as v from 'valibot';
import type { NodeKindFacts } from '../../api/kinds/kind.ts';
import { findNodeKind, portsOf, usualProperties } from '../../api/kinds/kinds.ts';
import type { Port } from '../../api/kinds/port.ts';
import { KINDS } from '../../compute/emulators/registry.ts';
import { entriesOf, type NodeKind } from '../../compute/nodes/kind.ts';
import type { NodeRequest } from '../../controller/templates/node-request.ts';
import { Failure } from '../../failures.ts';
import { nearest, suggestion } from '../../host/values/nearest-name.ts';
import { type Wrong, wrongIn } from './checking.ts';
import type { NodeText } from './schema.ts';
import type { Path } from './source.ts';

type Properties = Readonly<Record<string, unknown>>;
type Settings = Pick<NodeText, 'properties' | 'console' | 'custom_adapters' | 'ports'>;
/** What a template sets. */
export type Base = Partial<
  Pick<NodeRequest, 'properties' | 'custom_adapters' | 'port_name_format' | 'port_segment_size' | 'first_port_name'>
>;

const KIND_OF = new Map<string, NodeKind>(KINDS.map((kind) => [kind.type, kind]));

/** Node members of the API outside of properties, and their form in a lab file. */
const BESIDE: Readonly<Record<string, string>> = {
  name: 'the name of a node stands before its colon',
  node_id: 'apply gives it; leave it out',
  project_id: 'it follows from the lab; leave it out',
  status: 'labwired lab start and stop change it; leave it out',
  command_line: 'read-only; leave it out',
  node_directory: 'read-only; leave it out',
  container_id: 'read-only; leave it out',
  console: 'write console: {port: NUMBER} beside properties',
  console_type: 'write console: {type: NAME} beside properties',
  console_auto_start: 'write console: {auto_start: true} beside properties',
  custom_adapters: 'write it beside properties',
  port_name_format: 'write ports: {format: TEXT} beside properties',
  port_segment_size: 'write ports: {segment_size: NUMBER} beside properties',
  first_port_name: 'write ports: {first: NAME} beside properties',
  symbol: 'write it beside properties',
  startup_script: 'write config: {file: PATH} beside properties',
  startup_config: 'write config: {file: PATH} beside properties',
  startup_config_content: 'write config: TEXT beside properties',
  private_config: 'write private_config: {file: PATH} beside properties',
  private_config_content: 'write private_config: TEXT beside properties',
  base_script_file: 'write config: {file: PATH} beside properties',
};

/** The members of `properties` for a type of node; undefined for an unknown type. */
export function propertyEntries(type: string): v.ObjectEntries | undefined {
  const kind = KIND_OF.get(type);
  if (!kind) return undefined;
  const { ownNumbers = [], hostNumber } = findNodeKind(type)!;
  const all = { ...entriesOf(kind.update), ...entriesOf(kind.create) };
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, schema]) => {
      if (Object.hasOwn(BESIDE, name)) return [];
      // Servers number nodes themselves.
      const isGiven = ownNumbers.includes(name) || hostNumber?.property === name;
      return [[name, isGiven ? v.optional(schema as v.GenericSchema) : schema]];
    }),
  );
}

/** How a type's console can be reached; undefined where that is not to be chosen. */
function consoleSchema(kind: NodeKind): v.GenericSchema | undefined {
  return entriesOf(kind.create)['console_type'] as v.GenericSchema | undefined;
}

/**
 * Mistakes in a node's settings, each with its path within the node.
 * @param before path of the node in the file
 * @param base from a template; without it the file must have all required settings
 */
export function wrongSettings(type: string, node: Settings, before: Path, base?: Base): Wrong[] {
  const kind = KIND_OF.get(type);
  const entries = propertyEntries(type);
  if (!kind || !entries) return [];
  const { properties = {} } = node;
  const within = [...before, 'properties'];
  const wrong: Wrong[] = [];
  const own: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(properties)) {
    const fix = Object.hasOwn(BESIDE, name) && !Object.hasOwn(entries, name) ? BESIDE[name] : undefined;
    if (fix === undefined) own[name] = value;
    else wrong.push({ path: ['properties', name], of: 'key', message: `${[...within, name].join('.')}: ${fix}` });
  }
  const whole = v.strictObject(entries);
  const schema = base ? v.partial(whole) : whole;
  wrong.push(...wrongIn(schema, own, within).map((one) => ({ ...one, path: ['properties', ...one.path] })));
  const consoles = consoleSchema(kind);
  if (consoles && node.console?.type != null) {
    const way = ['console', 'type'];
    wrong.push(...wrongIn(consoles, node.console.type, [...before, ...way]).map((one) => ({ ...one, path: way })));
  }
  wrong.push(...wrongAdapterTypes(kind, node, before));
  if (wrong.length > 0) return wrong;
  return [...wrongTogether(kind, own, within, base), ...wrongPorts(type, node, before, base)];
}

/** Hypervisors may support other adapter types: only near misses of known ones are reported. */
function wrongAdapterTypes(
  kind: NodeKind,
  { properties = {}, custom_adapters: custom = [] }: Settings,
  before: Path,
): Wrong[] {
  const name = 'adapter_type';
  const types = optionsOf(kind, name);
  const given: { path: Path; value: unknown }[] = [
    { path: ['properties', name], value: properties[name] },
    ...custom.map((one, index) => ({ path: ['custom_adapters', index, name], value: one.adapter_type })),
  ];
  return given.flatMap(({ path, value }) => {
    if (typeof value !== 'string' || types.includes(value) || nearest(value, types) === undefined) return [];
    const message = `${[...before, ...path].join('.')}: there is no adapter "${value}"; ${suggestion(value, types)}`;
    return [{ path, of: undefined, message }];
  });
}

/** Properties that are valid one by one but not together. */
function wrongTogether(kind: NodeKind, own: Properties, within: Path, base?: Base): Wrong[] {
  const wrong = (name: string, message: string): Wrong => ({
    path: ['properties', name],
    of: undefined,
    message: `${[...within, name].join('.')}: ${message}`,
  });
  let predicted: Properties | undefined;
  try {
    predicted = predictedOf(kind, { ...base?.properties, ...own });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const [, name = '', message] = /^(\w+): (.*)$/s.exec(error.message) ?? [];
    return message === undefined ? [] : [wrong(name, message)];
  }
  return Object.entries(own).flatMap(([name, value]) => {
    if (typeof value !== 'string' || value === '' || !predicted || !(name in predicted)) return [];
    if (String(predicted[name]).toLowerCase() === value.toLowerCase()) return [];
    return [wrong(name, `there is no "${value}" for it; ${suggestion(value, optionsOf(kind, name))}`)];
  });
}

/** @throws Failure that begins with the name of a property */
function predictedOf(kind: NodeKind, properties: Properties): Properties | undefined {
  if (!kind.predict) return undefined;
  const known = Object.entries(properties).filter(([name]) => Object.hasOwn(entriesOf(kind.create), name));
  const body = v.safeParse(kind.create, { name: 'node', ...Object.fromEntries(known) });
  return body.success ? (kind.predict(body.output) as Properties) : undefined;
}

function membersOf({ template: { members, variants } }: NodeKindFacts): v.ObjectEntries {
  return members ?? Object.values(variants?.members ?? {})[0] ?? {};
}

/** The values that templates of the kind may have for a member. */
function optionsOf({ type }: NodeKind, name: string): string[] {
  const schema = membersOf(findNodeKind(type)!)[name] as { wrapped?: unknown; options?: unknown } | undefined;
  const { options = [] } = (schema?.wrapped ?? schema ?? {}) as { options?: string[] };
  return options.filter((one) => one !== '');
}

function wrongPorts(type: string, node: Settings, before: Path, base?: Base): Wrong[] {
  let ports: Port[] | undefined;
  try {
    ports = portsAhead(type, node, base);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const message = `${[...before, 'ports', 'format'].join('.')}: ${error.message.replace(/^\w+: /, '')}`;
    return [{ path: ['ports', 'format'], of: undefined, message }];
  }
  if (!ports) return [];
  const adapters = [...new Set(ports.map(({ adapter_number: number }) => number))];
  return (node.custom_adapters ?? []).flatMap(({ adapter_number: number }, index) => {
    if (adapters.includes(number)) return [];
    const path = ['custom_adapters', index, 'adapter_number'];
    const there = adapters.length === 0 ? 'it has none' : `it has ${adapters[0]} to ${adapters.at(-1)}`;
    const message = `${[...before, ...path].join('.')}: the node has no adapter ${number}; ${there}, as properties say`;
    return [{ path, of: undefined, message }];
  });
}

/**
 * The node's ports; undefined if they are unknown before it is created.
 * @throws Failure `conflict` for an unknown name format
 */
export function portsAhead(type: string, node: Settings, base: Base = {}): Port[] | undefined {
  const [kind, facts] = [KIND_OF.get(type), findNodeKind(type)];
  const told: Properties = { ...base.properties, ...node.properties };
  // A cloud's ports depend on its host unless they are given.
  if (!kind || !facts || (facts.leadsOut && !told['ports_mapping'])) return undefined;
  let predicted: Properties | undefined;
  try {
    predicted = predictedOf(kind, told);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
  }
  if (kind.predict && !predicted) return undefined;
  const { format = base.port_name_format, segment_size: size = base.port_segment_size, first } = node.ports ?? {};
  return portsOf({
    node_type: facts.type,
    properties: { ...usualProperties(facts.type), ...told, ...predicted },
    port_name_format: format ?? facts.portNames?.format ?? 'Ethernet{0}',
    port_segment_size: size ?? facts.portNames?.segmentSize ?? 0,
    first_port_name: first ?? base.first_port_name ?? null,
    custom_adapters: node.custom_adapters ?? base.custom_adapters ?? [],
  });
}
