// `labwired lab`: labs, which the API calls projects.
import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import type * as v from 'valibot';
import { WrongUsage } from '../../commands/wrong-usage.ts';
import type { ProjectDuplicate } from '../../controller/archives/duplicate-routes.ts';
import type { ProjectCreate } from '../../controller/projects/schema.ts';
import { Failure } from '../../failures.ts';
import { quoted } from '../../host/terminal/shell-word.ts';
import { type Noun, OUTSIDE, type Verb, verb } from '../frame/command.ts';
import type { Session } from '../frame/session.ts';
import type { ExportOptions } from '../labfile/export.ts';
import type { OutsideFlag } from '../labfile/read.ts';
import type { LabObject } from '../server/objects.ts';
import { labSettings, SET, settingsBody } from '../server/settings.ts';
import { counted } from '../terminal/counted.ts';
import { fileBody, mustBeFree, REPLACES, save } from '../terminal/files.ts';

/** Files of labs end so. */
const EXTENSION = '.gns3project';

interface Figures {
  project_id: string;
  nodes: number;
  running: number;
}

const idOf = ({ project_id }: LabObject): string => project_id;
const pathOf = (lab: LabObject): string => `/v2/projects/${lab.project_id}`;

async function list(session: Session): Promise<void> {
  const [labs, figures] = await Promise.all([session.labs(), figuresOf(session)]);
  const nodes = ({ project_id: id, status }: LabObject): string => {
    const known = figures.find(({ project_id }) => project_id === id);
    return known && status === 'opened' ? `${known.running}/${known.nodes}` : '';
  };
  session.show(labs, idOf, [
    { heading: 'LAB', cell: ({ name }) => name },
    { heading: 'STATUS', cell: ({ status }) => status },
    { heading: 'RUNNING', cell: nodes },
    { heading: 'ID', cell: idOf },
  ]);
}

/** How many nodes run; a server of the release does not tell. */
async function figuresOf(session: Session): Promise<Figures[]> {
  if (session.json || session.quiet) return [];
  return session.api.get<Figures[]>('/v2/project-figures').catch(() => []);
}

async function open(session: Session, lab: LabObject): Promise<LabObject> {
  return lab.status === 'opened' ? lab : session.api.post<LabObject>(`${pathOf(lab)}/open`);
}

async function startAll(session: Session, wanted: string): Promise<LabObject> {
  const lab = await session.labNamed(wanted);
  await open(session, lab);
  await forAll(session, lab, 'start');
  return lab;
}

/** An action on all nodes. @throws Failure that names the nodes whose host cannot be reached; the others have been told */
async function forAll(session: Session, lab: LabObject, action: 'start' | 'stop'): Promise<void> {
  const answer = await session.api.post<{ left_out?: { name: string; reason: string }[] } | undefined>(
    `${pathOf(lab)}/nodes/${action}`,
  );
  const leftOut = answer?.left_out ?? [];
  if (leftOut.length === 0) return;
  const names = leftOut.map(({ name }) => name).join(', ');
  const reasons = [...new Set(leftOut.map(({ reason }) => reason))].join(' ');
  throw new Failure('conflict', `${action}: all nodes of "${lab.name}" but ${names}. ${reasons}`);
}

async function startFile(session: Session, file: string, flags: OutsideFlag): Promise<LabObject> {
  const [{ readLab }, { labOfFile }, { startInOrder }] = await Promise.all([
    import('../labfile/read.ts'),
    import('../checks/which-lab.ts'),
    import('../checks/starting.ts'),
  ]);
  const wanted = await readLab(file, flags);
  const lab = await labOfFile(session, wanted);
  await startInOrder(session, lab, wanted);
  return lab;
}

const NUMBER = { number: { summary: 'if the name is taken, with a number behind it' } } as const;

function nameTaken(name: string): Failure {
  return new Failure(
    'conflict',
    `The name "${name}" is taken: choose another one, or let --number put a number behind it.`,
  );
}

/**
 * A new lab of this name, which servers number in silence if it is taken, also by a lab that this account cannot see.
 * @throws Failure `conflict` for a taken name unless it may be numbered; no lab is made then
 */
async function madeWithName(
  session: Session,
  { name, number }: { name: string; number: boolean },
  make: () => Promise<LabObject>,
): Promise<LabObject> {
  if (!number && (await session.labs()).some((one) => one.name === name)) throw nameTaken(name);
  const made = await make();
  if (number || made.name === name) return made;
  await session.api.delete(pathOf(made));
  throw nameTaken(name);
}

/** A step that a lab takes as a whole. */
function step(name: string, summary: string, done: string, take: (session: Session, lab: LabObject) => Promise<void>) {
  return verb({
    name,
    words: ['LAB'],
    summary,
    flags: {},
    run: async (session, [wanted]) => {
      const lab = await session.labNamed(wanted!);
      await take(session, lab);
      session.tell(`Lab "${lab.name}" ${done}.`, lab.project_id, await session.api.get<LabObject>(pathOf(lab)));
    },
  });
}

/** A lab as a file: an archive with everything, or a text that says what it is. */
export function exportVerb(name: string): Verb {
  return verb({
    name,
    words: ['LAB'],
    summary: 'to one file, for lab import, its nodes stopped; with --yaml as text, for apply',
    flags: {
      to: { value: 'FILE', summary: `instead of NAME${EXTENSION}; - is standard output, as for --yaml` },
      yaml: { summary: 'as text: nodes, links, drawings and configurations; no disks' },
      consoles: { summary: 'with the numbers of consoles, which are given anew otherwise; goes with --yaml' },
      images: { summary: 'with the images of its nodes' },
      snapshots: { summary: 'with its snapshots' },
      force: REPLACES,
    },
    run: async (session, [wanted], { to, yaml, consoles, images, snapshots, force }) => {
      if (consoles && !yaml)
        throw new WrongUsage('--consoles goes with --yaml: an archive has the numbers of consoles anyway.');
      if (yaml && (images || snapshots))
        throw new WrongUsage('--yaml is a text: it holds neither images nor snapshots.');
      const lab = await session.labNamed(wanted!);
      const file = to ?? (yaml ? '-' : `${lab.name.replaceAll(/[/\0]/g, '_')}${EXTENSION}`);
      if (file !== '-') await mustBeFree(file, force === true);
      const query = `include_images=${images ? 'yes' : 'no'}&include_snapshots=${snapshots ? 'yes' : 'no'}`;
      const content = yaml
        ? Readable.from([await labAsText(session, lab, { consoles })])
        : await session.api.stream(`${pathOf(lab)}/export?${query}`);
      await save(session, content, file);
      if (file !== '-') session.tell(`Lab "${lab.name}" is in ${file}`, file, { file });
    },
  });
}

async function labAsText(session: Session, lab: LabObject, options: ExportOptions): Promise<string> {
  if (lab.status !== 'opened') {
    throw new Failure(
      'conflict',
      `Lab "${lab.name}" is closed and does not show its files: labwired lab open ${quoted(lab.name)}`,
    );
  }
  const [{ exportText }, { readLabState }] = await Promise.all([
    import('../labfile/export.ts'),
    import('../labfile/state.ts'),
  ]);
  const { text, leftOut } = await exportText(session.api, await readLabState(session.api, lab), options);
  for (const sentence of leftOut) session.remark(sentence);
  return text;
}

export const lab: Noun = {
  name: 'lab',
  summary: 'labs, which the API calls projects',
  verbs: [
    verb({ name: 'list', words: [], summary: 'all labs, and how many of their nodes run', flags: {}, run: list }),
    verb({
      name: 'create',
      words: ['NAME'],
      summary: 'an empty lab, which is open',
      flags: {},
      run: async (session, [name]) => {
        // Or it would be closed when the last page that shows it is.
        const body: v.InferInput<typeof ProjectCreate> = { name: name!, auto_close: false };
        const made = await session.api.post<LabObject>('/v2/projects', body);
        session.tell(`Lab "${made.name}" created: ${made.project_id}`, made.project_id, made);
      },
    }),
    step('open', 'so that it can be used', 'is open', async (session, lab) => void (await open(session, lab))),
    step('close', 'stops its nodes; files and settings stay', 'is closed', (session, lab) =>
      session.api.post(`${pathOf(lab)}/close`),
    ),
    verb({
      name: 'update',
      words: ['LAB'],
      summary: 'another name, or other settings',
      flags: {
        name: { value: 'NAME', summary: 'another name' },
        set: { ...SET, summary: 'a setting, such as auto_start=true; again for more' },
      },
      run: async (session, [wanted], { name, set = [] }) => {
        if (set.length === 0 && name === undefined) {
          throw new WrongUsage('Say what to change: --name NAME or --set NAME=VALUE');
        }
        const lab = await session.labNamed(wanted!);
        const settings = set.length === 0 ? {} : settingsBody(set, await labSettings(session.api));
        const body = { ...settings, ...(name !== undefined && { name }) };
        const changed = (await session.api.request('PUT', pathOf(lab), body)) as LabObject;
        session.tell(`Lab "${changed.name}" is changed.`, lab.project_id, changed);
      },
    }),
    verb({
      name: 'duplicate',
      words: ['LAB', 'NAME'],
      summary: 'a copy with all files and disks, which is closed; its nodes must be stopped',
      flags: {
        'keep-macs': { summary: 'its nodes keep their MAC addresses, instead of getting new ones' },
        'new-macs': { summary: 'its nodes get new MAC addresses, as without it' },
        ...NUMBER,
      },
      run: async (session, [wanted, name], flags) => {
        if (flags['keep-macs'] && flags['new-macs']) throw new WrongUsage('Give --keep-macs or --new-macs, not both.');
        const lab = await session.labNamed(wanted!);
        const body: v.InferInput<typeof ProjectDuplicate> = {
          name: name!,
          reset_mac_addresses: flags['keep-macs'] !== true,
        };
        const made = await madeWithName(session, { name: name!, number: flags.number === true }, () =>
          session.api.post<LabObject>(`${pathOf(lab)}/duplicate`, body),
        );
        session.tell(`Lab "${made.name}" created: ${made.project_id}`, made.project_id, made);
      },
    }),
    verb({
      name: 'delete',
      words: ['LAB'],
      summary: 'with all nodes, files and snapshots, for good',
      flags: {},
      run: async (session, [wanted]) => {
        const lab = await session.labNamed(wanted!);
        await session.api.delete(pathOf(lab));
        session.tell(`Lab "${lab.name}" deleted.`, lab.project_id);
      },
    }),
    verb({
      name: 'start',
      words: ['LAB|FILE'],
      summary: 'all nodes; of a lab.yaml in its order, until they are ready. Opens the lab if it is closed',
      flags: OUTSIDE,
      run: async (session, [wanted], flags) => {
        const lab = await (/\.ya?ml$/.test(wanted!) ? startFile(session, wanted!, flags) : startAll(session, wanted!));
        session.tell(`Lab "${lab.name}" is started.`, lab.project_id, await session.api.get<LabObject>(pathOf(lab)));
      },
    }),
    step('stop', 'all nodes', 'is stopped', (session, lab) => forAll(session, lab, 'stop')),
    exportVerb('export'),
    verb({
      name: 'check',
      words: ['FILE'],
      summary: 'says what is wrong in a file that describes a lab as text; asks no server',
      flags: OUTSIDE,
      run: async (session, [file], flags) => {
        const { checkLab } = await import('../labfile/read.ts');
        const { name, nodes, links, checks } = await checkLab(file!, flags);
        const figures = { name, nodes: nodes.length, links: links.length, checks: checks.length };
        const parts = [counted(nodes.length, 'node'), counted(links.length, 'link'), counted(checks.length, 'check')];
        session.tell(`${file}: lab "${name}" is right: ${parts.join(', ')}`, name, figures);
      },
    }),
    verb({
      name: 'schema',
      words: [],
      summary: 'the JSON Schema of labs as text, for editors',
      flags: {
        to: { value: 'FILE', summary: 'instead of standard output' },
        force: REPLACES,
      },
      run: async (session, _words, { to = '-', force }) => {
        const { labSchemaText } = await import('../labfile/json-schema.ts');
        if (to !== '-') await mustBeFree(to, force === true);
        await save(session, Readable.from([labSchemaText()]), to);
      },
    }),
    verb({
      name: 'import',
      words: ['FILE'],
      summary: 'a lab from a file that lab export made; it is closed at first',
      flags: {
        name: { value: 'NAME', summary: "instead of the file's" },
        'new-macs': { summary: 'its nodes get new MAC addresses, as a further copy needs them' },
        ...NUMBER,
      },
      run: async (session, [file], { name: given, number, 'new-macs': newMacs }) => {
        await session.labs(); // asks for the password, if there is one, before the file is sent
        const name = given ?? basename(file!).replace(/\.[^.]+$/, '');
        const query = new URLSearchParams({ name });
        if (newMacs) query.set('reset_mac_addresses', 'yes');
        const path = `/v2/projects/${randomUUID()}/import?${query}`;
        const made = await madeWithName(session, { name, number: number === true }, async () => {
          using sent = await fileBody(session, file!);
          return (await session.api.upload(path, sent.body).catch((error: unknown) => {
            throw error instanceof Failure ? new Failure(error.code, `${file}: ${error.message}`) : error;
          })) as LabObject;
        });
        session.tell(`Lab "${made.name}" imported: ${made.project_id}`, made.project_id, made);
      },
    }),
    verb({
      name: 'import-containerlab',
      words: ['FILE'],
      summary: 'a topology file of containerlab as a lab in text, with a report of what has no equivalent',
      flags: {
        to: { value: 'FILE', summary: 'a file for it; - is standard output, which is usual' },
        netem: { value: 'FILE', summary: 'what containerlab tools netem show --format json has printed' },
        map: {
          value: 'KIND=TEMPLATE',
          many: true,
          summary: 'nodes of this kind are made of a template; again for more',
        },
        partial: { summary: 'succeed although nodes of unknown kinds are placeholders' },
        'allow-outside': { summary: "take bound files from outside of the topology file's folder, too" },
        force: REPLACES,
      },
      run: async (session, [file], flags) => {
        const { importContainerlab } = await import('../containerlab/import.ts');
        return importContainerlab(session, file!, flags);
      },
    }),
  ],
};
