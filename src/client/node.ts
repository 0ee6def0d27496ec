// `labwired node`: the nodes of a lab, and their consoles.
import type { TemplateUsage } from '../controller/templates/schema.ts';
import { type Noun, verb } from './command.ts';
import { attachTerminal } from './console-terminal.ts';
import { execute } from './exec.ts';
import type { LabObject, NodeObject } from './objects.ts';
import type { Session } from './session.ts';
import { templateNamed } from './template.ts';
import { WrongUsage } from './wrong-usage.ts';

const idOf = ({ node_id }: NodeObject): string => node_id;
const pathOf = (lab: LabObject, node: NodeObject): string => `/v2/projects/${lab.project_id}/nodes/${node.node_id}`;

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

async function create(
  session: Session,
  name: string | undefined,
  { template: wanted, compute, at }: { template?: string; compute?: string; at?: string },
): Promise<void> {
  if (wanted === undefined)
    throw new WrongUsage('Say what it is: --template TEMPLATE; labwired template list shows them.');
  const place = at === undefined ? undefined : placeOf(at);
  const lab = await session.lab();
  const template = await templateNamed(session, wanted);
  const body: TemplateUsage = {
    ...(place ?? freePlace(await session.nodes(lab))),
    ...(name !== undefined && { name }),
    compute_id: compute ?? 'local',
  };
  const made = await session.api.post<NodeObject>(
    `/v2/projects/${lab.project_id}/templates/${template.template_id}`,
    body,
  );
  session.tell(`Node "${made.name}" created: ${made.node_id}`, made.node_id, made);
}

/** What is asked of nodes one after the other. */
function step(name: 'start' | 'stop' | 'reload', summary: string, done: string) {
  return verb({
    name,
    words: ['NODE...'],
    summary,
    flags: {},
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
  summary: 'the nodes of a lab, and their consoles',
  verbs: [
    verb({
      name: 'list',
      words: [],
      summary: 'all nodes of the lab',
      flags: {},
      inLab: true,
      run: async (session) =>
        session.show(await session.nodes(await session.lab()), idOf, [
          { heading: 'NODE', cell: ({ name }) => name },
          { heading: 'TYPE', cell: ({ node_type }) => node_type },
          { heading: 'STATUS', cell: ({ status }) => status },
          {
            heading: 'CONSOLE',
            cell: ({ console, console_type }) => (console === null ? '' : `${console_type} ${console}`),
          },
          { heading: 'ID', cell: idOf },
        ]),
    }),
    verb({
      name: 'create',
      words: ['[NAME]'],
      summary: 'a node as a template describes it',
      flags: {
        template: { value: 'TEMPLATE', short: 't', summary: 'by name or id; see labwired template list' },
        compute: { value: 'ID', summary: 'the host that it runs on, if the template leaves it open (local)' },
        at: { value: 'X,Y', summary: 'its place on the map (the first free one)' },
      },
      inLab: true,
      run: (session, [name], flags) => create(session, name, flags),
    }),
    step('start', 'one after the other', 'is started'),
    step('stop', 'one after the other', 'is stopped'),
    step('reload', 'stop and start again', 'is reloaded'),
    verb({
      name: 'delete',
      words: ['NODE...'],
      summary: 'with their links and files, for good',
      flags: {},
      inLab: true,
      run: async (session, wanted) => {
        const lab = await session.lab();
        for (const node of await session.nodesNamed(lab, wanted)) {
          await session.api.delete(pathOf(lab, node));
          session.tell(`Node "${node.name}" deleted.`, node.node_id);
        }
      },
    }),
    verb({
      name: 'console',
      words: ['NODE'],
      summary: "the node's console in this terminal; Ctrl+] leaves it",
      flags: { aux: { summary: 'the auxiliary console' } },
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
        until: { value: 'REGEX', summary: 'the answer ends where this is found (at the next prompt)' },
        timeout: { value: 'SECONDS', summary: 'how long it may take (30)' },
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
