// `labwired node`: the nodes of a lab, and their consoles.
import * as v from 'valibot';
import type { DeletedNode } from '../../api/deleted-nodes.ts';
import { builtinProperties, findNodeKind, usualSymbol } from '../../api/kinds/kinds.ts';
import type { NodeObject, ProjectObject, TemplateObject } from '../../api/objects.ts';
import type { NodeDuplicate } from '../../api/routes/nodes.ts';
import type { TemplateUsage } from '../../api/routes/templates.ts';
import { NodeType } from '../../api/vocabulary.ts';
import { WrongUsage } from '../../commands/wrong-usage.ts';
import { conflict, type Failure, notFound } from '../../failures.ts';
import { attachTerminal } from '../console/console-terminal.ts';
import { type Noun, verb } from '../frame/command.ts';
import { findNode, type Session } from '../frame/session.ts';
import { nodeSettings, SET, settingsBody } from '../server/settings.ts';
import { NUMBER, nameTaken } from '../server/taken-names.ts';
import { computeNamed } from './compute.ts';
import { execute } from './exec.ts';
import { templateNamed } from './template.ts';

const idOf = ({ node_id }: NodeObject): string => node_id;
const pathOf = (lab: ProjectObject, node: NodeObject): string => `/v2/projects/${lab.project_id}/nodes/${node.node_id}`;

/** Whether a node does something that a restart would break off. */
export function runs({ node_type: type, status }: Pick<NodeObject, 'node_type' | 'status'>): boolean {
  return status !== 'stopped' && findNodeKind(type)?.alwaysRuns !== true;
}

/** Where new nodes stand: the first free place, row by row, so that no symbol lies on another. */
const GRID = { columns: 6, width: 160, height: 110, x: -400, y: -200 };

/** Whether a symbol there would lie on another one. */
export function covered({ x, y }: { x: number; y: number }, taken: readonly { x: number; y: number }[]): boolean {
  return taken.some((one) => Math.abs(one.x - x) < GRID.width / 2 && Math.abs(one.y - y) < GRID.height / 2);
}

export function freePlace(taken: readonly { x: number; y: number }[]): { x: number; y: number } {
  for (let cell = 0; ; cell++) {
    const x = GRID.x + (cell % GRID.columns) * GRID.width;
    const y = GRID.y + Math.floor(cell / GRID.columns) * GRID.height;
    if (!covered({ x, y }, taken)) return { x, y };
  }
}

/** @throws WrongUsage */
export function placeOf(at: string): { x: number; y: number } {
  const [, x, y] = /^(-?\d{1,6}),(-?\d{1,6})$/.exec(at) ?? [];
  if (x === undefined || y === undefined) throw new WrongUsage(`--at "${at}": write X,Y, such as --at=-100,50`);
  return { x: Number(x), y: Number(y) };
}

/** As a node of the type's built-in template looks and begins, where the settings do not say. */
function withUsual(type: string, settings: Record<string, unknown>): Record<string, unknown> {
  if (!v.is(NodeType, type)) return settings;
  const { properties } = settings as { properties?: Record<string, unknown> };
  const script = properties && 'startup_script' in properties ? {} : builtinProperties(type);
  return { symbol: usualSymbol(type), ...settings, properties: { ...script, ...properties } };
}

async function create(
  session: Session,
  name: string | undefined,
  { template: wanted, type, compute = 'local', at, set = [], number }: CreateFlags,
): Promise<void> {
  if ((wanted === undefined) === (type === undefined)) {
    throw new WrongUsage(
      'Say what it is: --template TEMPLATE, which labwired template list shows, or --type TYPE, such as vpcs.',
    );
  }
  const place = at === undefined ? undefined : placeOf(at);
  const lab = await session.lab();
  const template = wanted === undefined ? undefined : await templateNamed(session, wanted);
  const kind = type ?? template!.template_type;
  const settings =
    type === undefined && set.length === 0 ? {} : settingsBody(set, await nodeSettings(session.api, kind));
  const nodes = await session.nodes(lab);
  // Servers silently number a taken name and remove its blanks.
  const plain = name?.replaceAll(' ', '');
  if (!number && nodes.some((one) => one.name === plain)) throw nameTaken(plain!);
  const somewhere = place ?? freePlace(nodes);
  const made = await (template
    ? fromTemplate(
        session,
        lab,
        template,
        { ...somewhere, ...(name !== undefined && { name }), compute_id: compute },
        settings,
      )
    : session.api.post<NodeObject>(`/v2/projects/${lab.project_id}/nodes`, {
        ...somewhere,
        name: name ?? kind,
        node_type: kind,
        compute_id: compute,
        ...withUsual(kind, settings),
      }));
  if (!hasItsPort(settings, made)) {
    await session.api.delete(pathOf(lab, made));
    throw portNotGiven(settings);
  }
  session.tell(`Node "${made.name}" created: ${made.node_id}`, made.node_id, made);
}

/** The server silently assigns another port if the wanted one is taken, as in the release. */
function hasItsPort(settings: { console?: unknown }, { console }: NodeObject): boolean {
  return typeof settings.console !== 'number' || settings.console === console;
}

/** A change that puts back what another one has changed. */
function formerly(changed: object, node: NodeObject): object {
  const { properties, ...members } = changed as { properties?: object };
  const of = (names: object, from: object): object =>
    Object.fromEntries(Object.entries(from).filter(([name]) => Object.hasOwn(names, name)));
  return { ...of(members, node), ...(properties && { properties: of(properties, node.properties ?? {}) }) };
}

function portNotGiven({ console }: { console?: unknown }): Failure {
  return conflict(
    `--set console=${console}: this port is unavailable: it is in use, or outside the server's range. Choose another, or leave it out.`,
  );
}

interface CreateFlags {
  template?: string;
  type?: string;
  compute?: string;
  at?: string;
  set?: readonly string[];
  number?: true;
}

/** Creates a node from a template and applies further settings; if these fail, it is deleted. */
async function fromTemplate(
  session: Session,
  lab: ProjectObject,
  { template_id }: TemplateObject,
  body: TemplateUsage,
  settings: object,
): Promise<NodeObject> {
  const made = await session.api.post<NodeObject>(`/v2/projects/${lab.project_id}/templates/${template_id}`, body);
  if (Object.keys(settings).length === 0) return made;
  const undo = session.ending.defer(() => session.api.delete(pathOf(lab, made)));
  try {
    const changed = (await session.api.request('PUT', pathOf(lab, made), settings)) as NodeObject;
    undo.cancel();
    return changed;
  } catch (error) {
    await undo.now();
    throw error;
  }
}

/** All values are understood before the first node is changed. */
async function update(
  session: Session,
  wanted: readonly string[],
  { set = [], name, at }: { set?: readonly string[]; name?: string; at?: string },
): Promise<void> {
  if (set.length === 0 && name === undefined && at === undefined) {
    throw new WrongUsage('Say what to change: --set NAME=VALUE, --name NAME or --at=X,Y');
  }
  if (wanted.length > 1 && (name ?? at) !== undefined) {
    throw new WrongUsage('--name and --at need a single node.');
  }
  const place = at === undefined ? {} : placeOf(at);
  const lab = await session.lab();
  const nodes = await session.nodesNamed(lab, wanted);
  const bodies = new Map<string, { console?: unknown }>();
  for (const { node_type: type } of set.length > 0 ? nodes : []) {
    if (!bodies.has(type)) bodies.set(type, settingsBody(set, await nodeSettings(session.api, type)));
  }
  for (const node of nodes) {
    const body = { ...bodies.get(node.node_type), ...(name !== undefined && { name }), ...place };
    const changed = (await session.api.request('PUT', pathOf(lab, node), body)) as NodeObject;
    if (!hasItsPort(body, changed)) {
      await session.api.request('PUT', pathOf(lab, node), formerly(body, node));
      throw portNotGiven(body);
    }
    session.tell(`Node "${changed.name}" is changed.`, node.node_id, changed);
  }
}

function statusOf({ status, lost_reason: lost, halt_reason: halted }: NodeObject): string {
  if (lost !== undefined) return 'lost';
  return halted === undefined ? status : `${status}: ${halted}`;
}

/** The last deleted one of this name or id. @throws Failure `not-found` */
function deletedNamed(deleted: readonly DeletedNode[], wanted: string): DeletedNode {
  const found = deleted.find(({ node_id: id, name }) => id === wanted || name === wanted);
  if (found !== undefined) return found;
  const names = deleted.map(({ name }) => name).join(', ') || 'none';
  throw notFound(`No deleted node "${wanted}" is kept. Kept for an hour, while the lab is open: ${names}.`);
}

/** An action on several nodes, one after the other. */
function step(name: 'start' | 'stop' | 'reload' | 'isolate' | 'unisolate', summary: string, done: string) {
  return verb({
    name,
    words: ['NODE...'],
    summary,
    inLab: true,
    run: async (session, wanted) => {
      const lab = await session.lab();
      for (const node of await session.nodesNamed(lab, wanted)) {
        await session.api.post(`${pathOf(lab, node)}/${name}`);
        // The answer shows the node as it was before.
        const now = session.json ? await session.api.get<NodeObject>(pathOf(lab, node)) : undefined;
        session.tell(`Node "${node.name}" ${done}.`, node.node_id, now);
      }
    },
  });
}

export const node: Noun = {
  name: 'node',
  summary: 'nodes of a lab, and their consoles',
  verbs: [
    verb({
      name: 'list',
      summary: 'lists all nodes of the lab',
      inLab: true,
      run: async (session) => {
        const nodes = await session.nodes(await session.lab());
        const isSpread = nodes.some(({ compute_id }) => compute_id !== 'local');
        session.show(nodes, idOf, [
          { heading: 'NODE', cell: ({ name }) => name },
          { heading: 'TYPE', cell: ({ node_type }) => node_type },
          ...(isSpread ? [{ heading: 'HOST', cell: ({ compute_id }: NodeObject) => compute_id }] : []),
          { heading: 'STATUS', cell: statusOf },
          {
            heading: 'CONSOLE',
            cell: ({ console, console_type }) => (console === null ? '' : `${console_type} ${console}`),
          },
          { heading: 'ID', cell: idOf },
          ...(nodes.some(({ lost_reason }) => lost_reason !== undefined)
            ? [{ heading: 'REASON', cell: ({ lost_reason = '' }: NodeObject) => lost_reason }]
            : []),
        ]);
      },
    }),
    verb({
      name: 'create',
      words: ['[NAME]'],
      summary: 'creates a node from a template, or of a type',
      flags: {
        template: { value: 'TEMPLATE', short: 't', summary: 'by name or id; see labwired template list' },
        type: { value: 'TYPE', summary: 'such as vpcs or qemu, without a template' },
        set: SET,
        compute: { value: 'ID', summary: 'its host, if the template has none (local)' },
        at: { value: 'X,Y', summary: 'its position on the map (the first free one)' },
        ...NUMBER,
      },
      inLab: true,
      run: (session, [name], flags) => create(session, name, flags),
    }),
    verb({
      name: 'update',
      words: ['NODE...'],
      summary: 'changes settings, some from the next start',
      flags: {
        set: SET,
        name: { value: 'NAME', summary: 'the new name' },
        at: { value: 'X,Y', summary: 'the new position on the map' },
      },
      inLab: true,
      run: (session, words, flags) => update(session, words, flags),
    }),
    verb({
      name: 'duplicate',
      words: ['NODE'],
      summary: 'copies a stopped node with settings and files, without links',
      flags: { at: { value: 'X,Y', summary: 'its position on the map (the first free one)' } },
      inLab: true,
      run: async (session, [wanted], { at }) => {
        const place = at === undefined ? undefined : placeOf(at);
        const lab = await session.lab();
        const nodes = await session.nodes(lab);
        const body: v.InferInput<typeof NodeDuplicate> = place ?? freePlace(nodes);
        const made = await session.api.post<NodeObject>(`${pathOf(lab, findNode(nodes, wanted))}/duplicate`, body);
        session.tell(`Node "${made.name}" created: ${made.node_id}`, made.node_id, made);
      },
    }),
    verb({
      name: 'move',
      words: ['NODE...'],
      summary: 'moves stopped nodes, or those of a lost host, to another one, with files and links',
      flags: { compute: { value: 'HOST', summary: 'by name or id; see labwired compute list' } },
      inLab: true,
      run: async (session, wanted, { compute }) => {
        if (compute === undefined)
          throw new WrongUsage('The target is missing: --compute HOST (see labwired compute list).');
        const lab = await session.lab();
        const nodes = await session.nodesNamed(lab, wanted);
        const { compute_id, name } = await computeNamed(session, compute);
        for (const node of nodes) {
          const moved = (await session.api.request('PUT', pathOf(lab, node), { compute_id })) as NodeObject;
          session.tell(`Node "${node.name}" is on ${name}.`, node.node_id, moved);
        }
      },
    }),
    step('start', 'starts nodes one after the other', 'is started'),
    step('stop', 'stops nodes one after the other', 'is stopped'),
    step('reload', 'stops and starts nodes again', 'is reloaded'),
    step('isolate', 'suspends all links of nodes, as if unplugged', 'is isolated'),
    step('unisolate', 'resumes all links of nodes', 'is connected again'),
    verb({
      name: 'delete',
      words: ['NODE...'],
      summary: 'deletes nodes with links and files; restore brings them back for an hour',
      flags: { permanently: { summary: 'keep nothing' } },
      inLab: true,
      run: async (session, wanted, { permanently }) => {
        const lab = await session.lab();
        for (const node of await session.nodesNamed(lab, wanted)) {
          const kept = await session.api.request('DELETE', `${pathOf(lab, node)}${permanently ? '' : '?keep=yes'}`);
          const isGone = kept === undefined && !permanently;
          session.tell(`Node "${node.name}" deleted${isGone ? ' permanently' : ''}.`, node.node_id);
        }
      },
    }),
    verb({
      name: 'restore',
      words: ['NODE...'],
      summary: 'brings deleted nodes back, with files and links',
      inLab: true,
      run: async (session, wanted) => {
        const lab = await session.lab();
        const path = `/v2/projects/${lab.project_id}/deleted_nodes`;
        const deleted = await session.api.get<DeletedNode[]>(path);
        for (const { node_id: id } of wanted.map((one) => deletedNamed(deleted, one))) {
          const { name } = await session.api.post<NodeObject>(`${path}/${id}/restore`, {});
          session.tell(`Node "${name}" restored.`, id);
        }
      },
    }),
    verb({
      name: 'console',
      words: ['NODE'],
      summary: "opens the node's console in this terminal; Ctrl+] leaves it",
      flags: { aux: { summary: 'open the auxiliary console' } },
      inLab: true,
      run: async (session, [wanted], { aux }) => {
        const lab = await session.lab();
        const [node] = (await session.nodesNamed(lab, [wanted!])) as [NodeObject];
        await attachTerminal(session, node, `${pathOf(lab, node)}/${aux ? 'aux' : 'console'}/ws`);
      },
    }),
    verb({
      name: 'exec',
      words: ['NODE', 'LINE...'],
      summary: "types a line at the node's console and prints the answer",
      flags: {
        until: { value: 'REGEX', summary: 'end the answer at a match (at the next prompt)' },
        prompt: { value: 'REGEX', summary: 'the prompt, if Return does not show it' },
        timeout: { value: 'SECONDS', summary: 'the most time (30)' },
      },
      inLab: true,
      run: async (session, [wanted, ...line], flags) => {
        const options = { line: line.join(' '), ...flags };
        await execute(session, options, async () => {
          const lab = await session.lab();
          const [node] = (await session.nodesNamed(lab, [wanted!])) as [NodeObject];
          return { node, path: `${pathOf(lab, node)}/console/ws` };
        });
      },
    }),
  ],
};
