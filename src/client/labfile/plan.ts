// Compares a file with the server and plans the changes. Only reads.
import type { ProjectObject } from '../../api/objects.ts';
import { AUTO_ID } from '../../api/placement.ts';
import type { Template } from '../../api/routes/templates.ts';
import { suggestion } from '../../host/values/nearest-name.ts';
import { runs } from '../commands/node.ts';
import type { Session } from '../frame/session.ts';
import type { Api } from '../server/api.ts';
import type { ServerNode } from '../server/nodes.ts';
import type { Change } from './changes.ts';
import { differences } from './compare.ts';
import { configPath, withoutMark } from './configurations.ts';
import type { WantedText } from './contents.ts';
import { LabFileMistakes, type Mistake } from './file-mistakes.ts';
import { portMistakes, portsAfterwards } from './link-ports.ts';
import { missingOf } from './missing-images.ts';
import { nodeKey, type WantedLab, type WantedNode } from './model.ts';
import type { Base } from './node-settings.ts';
import { planDrawings } from './plan-drawings.ts';
import { impairsLink, planLinks } from './plan-links.ts';
import { baseOf, type NodePlan, planNodes } from './plan-nodes.ts';
import { findLab, readLabState, readNodeFile, type ServerLab } from './state.ts';

export interface Plan {
  changes: Change[];
  /** Undefined until it exists. */
  lab: ProjectObject | undefined;
  state: ServerLab | undefined;
}

/** Files requested at the same time. */
const TOGETHER = 8;

/** @throws Failure if something that the file needs is missing on the server */
export async function planLab(session: Session, wanted: WantedLab): Promise<Plan> {
  const lab = await findLab(session, wanted);
  const templates = wanted.nodes.some(({ template }) => template !== undefined)
    ? await session.api.get<Template[]>('/v2/templates')
    : [];
  const state = lab ? await readLabState(session.api, lab) : emptyLab(wanted);
  const changes: Change[] = [];
  if (!lab) {
    const body = {
      name: wanted.name,
      auto_close: false,
      ...settingsOf(wanted),
      ...(wanted.id && { project_id: wanted.id }),
    };
    changes.push({ action: 'create', kind: 'lab', name: wanted.name, body });
  } else {
    if (lab.status !== 'opened') changes.push({ action: 'open', kind: 'lab', name: lab.name, id: lab.project_id });
    const found = differences('', { name: wanted.name, ...settingsOf(wanted) }, state.object);
    if (found.length > 0) {
      const body = Object.fromEntries(found.map(({ member, wanted: value }) => [member, value]));
      changes.push({ action: 'change', kind: 'lab', name: lab.name, id: lab.project_id, differences: found, body });
    }
  }
  const nodes = planNodes(wanted, state, templates);
  const ports = portsAfterwards(nodes.found, (node) => madeOf(node, nodes.templates));
  const mistakes = [
    ...portMistakes(wanted, ports),
    ...(await computeMistakes(session.api, wanted, nodes.found)),
    ...(await releaseMistakes(session.api, wanted)),
    ...(await missingOf(session.api, wanted, nodes)),
  ];
  if (mistakes.length > 0) throw new LabFileMistakes(wanted.file, mistakes);
  changes.push(...nodes.changes);
  changes.push(...(await planFiles(session.api, wanted, { lab, found: nodes.found })));
  changes.push(...planLinks(wanted, state, nodes.found));
  changes.push(...planDrawings(wanted, state));
  return { changes, lab, state: lab && state };
}

/** Type and template of a node to be created. */
function madeOf(node: WantedNode, templates: NodePlan['templates']): { type: string; base?: Base } | undefined {
  const template = templates.get(node);
  if (template) return { type: template.template_type, base: baseOf(template) };
  return node.type && { type: node.type };
}

/** Nodes on hosts that the server does not know. */
async function computeMistakes(api: Api, wanted: WantedLab, found: NodePlan['found']): Promise<Mistake[]> {
  const named = wanted.nodes.filter(
    ({ name, compute }) => compute !== undefined && compute !== 'local' && !found.get(nodeKey(name)),
  );
  if (named.length === 0) return [];
  const ids = (await api.get<{ compute_id: string }[]>('/v2/computes')).map(({ compute_id: id }) => id);
  const isLabwire = named.some(({ compute }) => compute === AUTO_ID) && (await api.isLabwire());
  return named.flatMap(({ name, compute = '', origin }) => {
    if (ids.includes(compute) || (compute === AUTO_ID && isLabwire)) return [];
    const message = `nodes.${name}.compute: the server knows no host "${compute}"; ${suggestion(compute, ids)}`;
    return [{ ...origin.placeOf(['compute']), message }];
  });
}

/** What a server of the release would reject. */
async function releaseMistakes(api: Api, wanted: WantedLab): Promise<Mistake[]> {
  const needed: Mistake[] = wanted.links
    .filter(impairsLink)
    .map(({ place, text }) => ({ ...place, message: `links "${text}": impairments are Labwire's own; use filters` }));
  for (const { name, origin, start } of wanted.nodes) {
    for (const member of ['order', 'delay'] as const) {
      if (!start[member]) continue;
      const message = `nodes.${name}.start.${member}: it is Labwire's own; use start.after, which labwired lab start FILE sees to`;
      needed.push({ ...origin.placeOf(['start', member]), message });
    }
  }
  if (needed.length === 0 || (await api.isLabwire())) return [];
  return needed.map(({ message, ...place }) => ({ ...place, message: `${message} (${api.address} is no Labwire)` }));
}

function settingsOf({ settings, variables }: WantedLab): Record<string, unknown> {
  return { ...settings, ...(variables !== undefined && { variables }) };
}

function emptyLab({ name, id = '' }: WantedLab): ServerLab {
  return { object: { project_id: id, name, status: 'closed' }, nodes: [], links: [], drawings: [] };
}

/** The files that a node is to have, by their path; without a number if the node does not exist yet. */
function filesOf(
  node: WantedNode,
  is: ServerNode | undefined,
): { path: string; text: WantedText; isConfig: boolean }[] {
  const path = (secret: boolean): string =>
    is ? configPath(is, secret) : secret ? 'private configuration' : 'configuration';
  return [
    ...(node.config ? [{ path: path(false), text: node.config, isConfig: true }] : []),
    ...(node.private_config ? [{ path: path(true), text: node.private_config, isConfig: true }] : []),
    ...Object.entries(node.files).map(([name, text]) => ({ path: name, text, isConfig: false })),
  ];
}

/** Files that are missing or differ. The files of a closed lab cannot be read. */
async function planFiles(
  api: Api,
  wanted: WantedLab,
  { lab, found }: { lab: ProjectObject | undefined; found: ReadonlyMap<string, ServerNode | undefined> },
): Promise<Change[]> {
  const all = wanted.nodes.flatMap((node) => {
    const is = found.get(nodeKey(node.name));
    return filesOf(node, is).map((file) => ({ node, is, ...file }));
  });
  const changes: (Change | undefined)[] = [];
  const look = async ({
    node,
    is,
    path,
    text: { bytes: content, from },
    isConfig,
  }: (typeof all)[number]): Promise<Change | undefined> => {
    const change: Change = {
      action: 'write',
      kind: 'file',
      name: `${node.name}: ${path}`,
      place: node.place,
      path,
      content,
      ...(from !== undefined && { what: `from ${from}` }),
    };
    if (!lab || !is) return { ...change, waits: true };
    if (lab.status !== 'opened') return undefined;
    const there = await readNodeFile(api, lab, is, path);
    if (there && withoutMark(is, path, there).equals(withoutMark(is, path, content))) return undefined;
    const restart = isConfig && runs(is);
    const text = { member: path, is: there?.toString() ?? null, wanted: content.toString() };
    return { ...change, node: is.node_id, differences: [text], ...(restart && { restart }) };
  };
  for (let at = 0; at < all.length; at += TOGETHER) {
    changes.push(...(await Promise.all(all.slice(at, at + TOGETHER).map(look))));
  }
  return changes.filter((change) => change !== undefined);
}
