// Plans changes of a lab's nodes and their files.

import { ABSENT_DEFAULTS, OMITTED_AT } from '../../api/kinds/absent-settings.ts';
import { builtinProperties, effectOf, usualSymbol } from '../../api/kinds/kinds.ts';
import { AUTO_ID } from '../../api/placement.ts';
import type { Template } from '../../api/routes/templates.ts';
import { nodeRequest } from '../../controller/templates/node-request.ts';
import { conflict, notFound } from '../../failures.ts';
import { suggestion } from '../../host/values/nearest-name.ts';
import type { Point } from '../../layout/rectangles.ts';
import { covered, freePlace, runs } from '../commands/node.ts';
import type { ServerNode } from '../server/nodes.ts';
import type { Change } from './changes.ts';
import { type Difference, differences } from './compare.ts';
import { configurationMistake } from './configurations.ts';
import { LabFileMistakes } from './file-mistakes.ts';
import { freeId } from './identity.ts';
import { layOut } from './layout.ts';
import { nodeKey, type WantedLab, type WantedNode } from './model.ts';
import { type Base, wrongSettings } from './node-settings.ts';
import type { ServerLab } from './state.ts';

/** Members of a node that it takes while it runs. */
const LOOKS = ['at', 'z', 'locked', 'symbol', 'label', 'ports.', 'start.', 'console.auto_start'];

const PROPERTIES = 'properties.';

function isLive(type: string, { member }: Difference): boolean {
  if (member.startsWith(PROPERTIES)) return effectOf(type, member.slice(PROPERTIES.length)) === 'live';
  return LOOKS.some((name) => member === name || (name.endsWith('.') && member.startsWith(name)));
}

/** @throws Failure `not-found`, with the place in the file */
export function templateOf(
  lab: WantedLab,
  { name, template: wanted, place }: WantedNode,
  all: readonly Template[],
): Template {
  const found = all.filter((one) => one.template_id === wanted || one.name === wanted);
  if (found.length === 1) return found[0]!;
  const where = `${lab.file}:${place.line}:${place.column}: nodes.${name}.template`;
  if (found.length > 1) {
    const ids = found.map((one) => one.template_id).join(', ');
    throw conflict(`${where}: ${found.length} templates are called "${wanted}"; use an id: ${ids}`);
  }
  const names = all.map((one) => one.name);
  throw notFound(`${where}: the server has no template "${wanted}"; ${suggestion(wanted ?? '', names)}`);
}

/** Members of the API's node that the file gives, by their names there. */
function members(node: WantedNode, label?: ServerNode['label']): { member: string; name: string; value: unknown }[] {
  const { z, locked, symbol, custom_adapters, console = {}, ports = {}, start } = node;
  return [
    { member: 'z', name: 'z', value: z },
    { member: 'locked', name: 'locked', value: locked },
    { member: 'symbol', name: 'symbol', value: symbol },
    { member: 'label', name: 'label', value: node.label && { ...label, ...node.label } },
    { member: 'custom_adapters', name: 'custom_adapters', value: custom_adapters },
    { member: 'console.type', name: 'console_type', value: console.type },
    { member: 'console.port', name: 'console', value: console.port },
    { member: 'console.auto_start', name: 'console_auto_start', value: console.auto_start },
    { member: 'ports.format', name: 'port_name_format', value: ports.format },
    { member: 'ports.segment_size', name: 'port_segment_size', value: ports.segment_size },
    { member: 'ports.first', name: 'first_port_name', value: ports.first },
    { member: 'start.order', name: 'start_order', value: start.order },
    { member: 'start.delay', name: 'start_delay', value: start.delay },
  ].filter(({ value }) => value !== undefined);
}

function changeOf(node: WantedNode, is: ServerNode): Change | undefined {
  const found: Difference[] = [];
  const body: Record<string, unknown> = {};
  const known = is as unknown as Record<string, unknown>;
  for (const { member, name, value } of members(node, is.label)) {
    const { [name]: now = OMITTED_AT[name] } = known;
    if (differences('', { value }, { value: now }).length === 0) continue;
    found.push({ member, is: now, wanted: value });
    body[name] = value;
  }
  if (node.at && (node.at[0] !== is.x || node.at[1] !== is.y)) {
    found.push({ member: 'at', is: [is.x, is.y], wanted: node.at });
    [body['x'], body['y']] = node.at;
  }
  const properties = differences(PROPERTIES, node.properties ?? {}, { ...ABSENT_DEFAULTS, ...is.properties });
  found.push(...properties);
  if (properties.length > 0) {
    body['properties'] = Object.fromEntries(
      properties.map(({ member, wanted }) => [member.slice(PROPERTIES.length), wanted]),
    );
  }
  if (found.length === 0) return undefined;
  const restart = runs(is) && !found.every((one) => isLive(is.node_type, one));
  return {
    action: 'change',
    kind: 'node',
    name: is.name,
    place: node.place,
    id: is.node_id,
    differences: found,
    body,
    ...(restart && { restart }),
  };
}

/** The request that creates a node, completely or not at all. */
function creationOf(
  node: WantedNode,
  { template, at, id }: { template: Template | undefined; at: Point; id: string },
): Change {
  const { type, template_id, compute = 'local', properties = {} } = node;
  const request = template
    ? nodeRequest(template, { ...at, name: node.name, compute_id: compute })
    : {
        node_type: type,
        compute_id: compute,
        ...(template_id !== undefined && { template_id }),
        name: node.name,
        ...at,
        symbol: usualSymbol(type!),
        properties: node.config === undefined && !('startup_script' in properties) ? builtinProperties(type!) : {},
      };
  const own = Object.fromEntries(
    members(node)
      .filter(({ name, value }) => value !== OMITTED_AT[name])
      .map(({ name, value }) => [name, value]),
  );
  const label = node.label && { text: node.name, ...node.label };
  const body = {
    ...request,
    ...own,
    ...(label && { label }),
    node_id: id,
    properties: { ...request.properties, ...properties },
  };
  return {
    action: 'create',
    kind: 'node',
    name: node.name,
    place: node.place,
    what: template?.name ?? String(type),
    body,
    id,
  };
}

/**
 * Checks the file's settings against templates.
 * @throws LabFileMistakes
 */
function mustFitTemplates(lab: WantedLab, templates: ReadonlyMap<WantedNode, Template>): void {
  const mistakes = [...templates].flatMap(([node, template]) => {
    const { template_type: type } = template;
    const { origin } = node;
    const found = wrongSettings(type, node, origin.path, baseOf(template)).map(({ path, of, message }) => ({
      ...origin.placeOf(path, of),
      message,
    }));
    const wrong = configurationMistake(type, node);
    if (!wrong) return found;
    return [...found, { ...origin.placeOf([wrong.member]), message: `${origin.path.join('.')}: ${wrong.message}` }];
  });
  // Copies of a node have the same ones.
  const once = [...new Map(mistakes.map((one) => [JSON.stringify(one), one])).values()];
  if (once.length > 0) throw new LabFileMistakes(lab.file, once);
}

/** What a template sets on any host. */
export function baseOf(template: Template): Base {
  return nodeRequest(template, { x: 0, y: 0 }, 'local');
}

export interface NodePlan {
  changes: Change[];
  /** The server's node for each node of the file; undefined if not created yet. */
  found: Map<string, ServerNode | undefined>;
  templates: ReadonlyMap<WantedNode, Template>;
}

/** @throws Failure for a missing template, or settings that do not fit it */
export function planNodes(lab: WantedLab, state: ServerLab, all: readonly Template[]): NodePlan {
  const templates = new Map(
    lab.nodes.flatMap((node) => (node.template === undefined ? [] : [[node, templateOf(lab, node, all)] as const])),
  );
  mustFitTemplates(lab, templates);
  const byKey = new Map(state.nodes.map((node) => [nodeKey(node.name), node]));
  const found = new Map(lab.nodes.map((node) => [nodeKey(node.name), byKey.get(nodeKey(node.name))]));
  const changes: Change[] = [];
  for (const node of state.nodes) {
    if (!found.has(nodeKey(node.name)))
      changes.push({ action: 'delete', kind: 'node', name: node.name, what: node.node_type, id: node.node_id });
  }
  const fresh: WantedNode[] = [];
  for (const node of lab.nodes) {
    const is = found.get(nodeKey(node.name));
    const template = templates.get(node);
    if (!is) {
      fresh.push(node);
      continue;
    }
    const another = anotherMake(node, is, template);
    if (another) {
      changes.push({
        action: 'replace',
        kind: 'node',
        name: is.name,
        place: node.place,
        id: is.node_id,
        differences: [another],
      });
      found.set(nodeKey(node.name), undefined);
      continue;
    }
    const change = changeOf(node, is);
    if (change) changes.push(change);
  }
  const places = placesOf(lab, fresh, state.nodes);
  const taken = new Set(state.nodes.map(({ node_id }) => node_id));
  for (const node of fresh) {
    const at = places.get(nodeKey(node.name))!;
    const template = templates.get(node);
    const id = freeId(taken, state.object.project_id, 'node', nodeKey(node.name));
    changes.push(creationOf(node, { template, at, id }));
  }
  return { changes, found, templates };
}

/** Why a node must be replaced: this cannot be changed. */
function anotherMake(node: WantedNode, is: ServerNode, template: Template | undefined): Difference | undefined {
  const type = template?.template_type ?? node.type;
  if (type !== is.node_type) return { member: 'type', is: is.node_type, wanted: type };
  if (node.compute !== undefined && node.compute !== AUTO_ID && node.compute !== is.compute_id)
    return { member: 'compute', is: is.compute_id, wanted: node.compute };
  return undefined;
}

/**
 * Positions of new nodes. The whole lab is laid out, so that creating it in two steps gives the same result; occupied places are avoided.
 */
function placesOf(lab: WantedLab, fresh: readonly WantedNode[], standing: readonly Point[]): Map<string, Point> {
  const given = lab.nodes.flatMap(({ at }) => (at ? [{ x: at[0], y: at[1] }] : []));
  const open = lab.nodes.filter(({ at }) => !at).map(({ name }) => name);
  const layout = layOut(lab, open, given);
  const taken = [...standing, ...given];
  const places = new Map<string, Point>();
  for (const { name, at } of fresh) {
    const laid = at ? { x: at[0], y: at[1] } : layout.get(nodeKey(name))!;
    const place = at || !covered(laid, taken) ? laid : freePlace(taken);
    taken.push(place);
    places.set(nodeKey(name), place);
  }
  return places;
}
