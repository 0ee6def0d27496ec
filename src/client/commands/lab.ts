// `labwired lab`: labs, which the API calls projects.
import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import type * as v from 'valibot';
import type { ProjectObject } from '../../api/objects.ts';
import type { LabFigures, ProjectCreate, ProjectDuplicate } from '../../api/routes/projects.ts';
import { WrongUsage } from '../../commands/wrong-usage.ts';
import { conflict, Failure } from '../../failures.ts';
import { quoted } from '../../host/terminal/shell-word.ts';
import { type Noun, OUTSIDE, type Verb, verb } from '../frame/command.ts';
import type { Session } from '../frame/session.ts';
import type { ExportOptions } from '../labfile/export.ts';
import type { OutsideFlag } from '../labfile/read.ts';
import { labSettings, SET, settingsBody } from '../server/settings.ts';
import { NUMBER, nameTaken } from '../server/taken-names.ts';
import { counted } from '../terminal/counted.ts';
import { fileBody, isStandardOutput, mustBeFree, REPLACES, save } from '../terminal/files.ts';
import { layoutVerb } from './lab-layout.ts';
import { notesVerb } from './lab-notes.ts';
import { share } from './share.ts';

/** Files of labs end so. */
const EXTENSION = '.gns3project';

const idOf = ({ project_id }: ProjectObject): string => project_id;
const pathOf = (lab: ProjectObject): string => `/v2/projects/${lab.project_id}`;

async function list(session: Session): Promise<void> {
  const [labs, figures] = await Promise.all([session.labs(), figuresOf(session)]);
  const nodes = ({ project_id: id, status }: ProjectObject): string => {
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

/** How many nodes run; not available from a server of the release. */
async function figuresOf(session: Session): Promise<LabFigures[]> {
  if (session.json || session.quiet) return [];
  return session.api.get<LabFigures[]>('/v2/project-figures').catch(() => []);
}

async function open(session: Session, lab: ProjectObject): Promise<ProjectObject> {
  return lab.status === 'opened' ? lab : session.api.post<ProjectObject>(`${pathOf(lab)}/open`);
}

async function startAll(session: Session, wanted: string): Promise<ProjectObject> {
  const lab = await session.labNamed(wanted);
  await open(session, lab);
  await forAll(session, lab, 'start');
  return lab;
}

/**
 * An action on all nodes.
 * @throws Failure that names the nodes with unreachable hosts; the others were done
 */
async function forAll(session: Session, lab: ProjectObject, action: 'start' | 'stop'): Promise<void> {
  const answer = await session.api.post<{ left_out?: { name: string; reason: string }[] } | undefined>(
    `${pathOf(lab)}/nodes/${action}`,
  );
  const leftOut = answer?.left_out ?? [];
  if (leftOut.length === 0) return;
  const names = leftOut.map(({ name }) => name).join(', ');
  const reasons = [...new Set(leftOut.map(({ reason }) => reason))].join(' ');
  throw conflict(`${action}: all nodes of "${lab.name}" except ${names}. ${reasons}`);
}

async function startFile(session: Session, file: string, flags: OutsideFlag): Promise<ProjectObject> {
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

/**
 * Creates a lab. Servers silently number a taken name, even if this account cannot see the other lab.
 * @throws Failure `conflict` for a taken name unless numbering is allowed; no lab is created then
 */
async function madeWithName(
  session: Session,
  { name, number }: { name: string; number: boolean },
  make: () => Promise<ProjectObject>,
): Promise<ProjectObject> {
  if (!number && (await session.labs()).some((one) => one.name === name)) throw nameTaken(name);
  const made = await make();
  if (number || made.name === name) return made;
  await session.api.delete(pathOf(made));
  throw nameTaken(name);
}

/** A step that a lab takes as a whole. */
function step(
  name: string,
  summary: string,
  done: string,
  take: (session: Session, lab: ProjectObject) => Promise<void>,
) {
  return verb({
    name,
    words: ['LAB'],
    summary,
    run: async (session, [wanted]) => {
      const lab = await session.labNamed(wanted);
      await take(session, lab);
      session.tell(`Lab "${lab.name}" ${done}.`, lab.project_id, await session.api.get<ProjectObject>(pathOf(lab)));
    },
  });
}

/** Exports a lab: an archive with everything, or its description as text. */
export function exportVerb(name: string): Verb {
  return verb({
    name,
    words: ['LAB'],
    summary: 'writes a stopped lab to one file, for lab import; with --yaml as text, for apply',
    flags: {
      to: { value: 'FILE', summary: `instead of NAME${EXTENSION}; - is standard output, the default with --yaml` },
      yaml: { summary: 'as text: nodes, links, drawings and configurations, without disks' },
      consoles: { summary: 'with --yaml: include console port numbers, which are otherwise reassigned' },
      images: { summary: 'include the images of its nodes' },
      snapshots: { summary: 'include its snapshots' },
      force: REPLACES,
    },
    run: async (session, [wanted], { to, yaml, consoles, images, snapshots, force }) => {
      if (consoles && !yaml)
        throw new WrongUsage('--consoles needs --yaml: an archive always has the console port numbers.');
      if (yaml && (images || snapshots))
        throw new WrongUsage('--yaml writes a text without images or snapshots: leave out --images and --snapshots.');
      const lab = await session.labNamed(wanted);
      const file = to ?? (yaml ? '-' : `${lab.name.replaceAll(/[/\0]/g, '_')}${EXTENSION}`);
      await mustBeFree(file, force === true);
      const query = `include_images=${images ? 'yes' : 'no'}&include_snapshots=${snapshots ? 'yes' : 'no'}`;
      const content = yaml
        ? Readable.from([await labAsText(session, lab, { consoles })])
        : await session.api.stream(`${pathOf(lab)}/export?${query}`);
      await save(session, content, file);
      if (!isStandardOutput(file)) session.tell(`Lab "${lab.name}" is in ${file}`, file, { file });
    },
  });
}

async function labAsText(session: Session, lab: ProjectObject, options: ExportOptions): Promise<string> {
  if (lab.status !== 'opened') {
    throw conflict(`Lab "${lab.name}" is closed, so its files cannot be read: labwired lab open ${quoted(lab.name)}`);
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
  summary: 'labs (projects of the API)',
  verbs: [
    verb({
      name: 'list',
      summary: 'lists all labs, with the number of running nodes',
      run: list,
    }),
    verb({
      name: 'create',
      words: ['NAME'],
      summary: 'creates an empty, open lab',
      run: async (session, [name]) => {
        // Or it would be closed when the last page that shows it is.
        const body: v.InferInput<typeof ProjectCreate> = { name: name, auto_close: false };
        const made = await session.api.post<ProjectObject>('/v2/projects', body);
        session.tell(`Lab "${made.name}" created: ${made.project_id}`, made.project_id, made);
      },
    }),
    step('open', 'opens the lab', 'is open', async (session, lab) => void (await open(session, lab))),
    step('close', 'stops its nodes and closes it; files and settings stay', 'is closed', (session, lab) =>
      session.api.post(`${pathOf(lab)}/close`),
    ),
    verb({
      name: 'update',
      words: ['LAB'],
      summary: 'changes name or settings',
      flags: {
        name: { value: 'NAME', summary: 'the new name' },
        set: { ...SET, summary: 'a setting, such as auto_start=true; repeatable' },
      },
      run: async (session, [wanted], { name, set = [] }) => {
        if (set.length === 0 && name === undefined) {
          throw new WrongUsage('Say what to change: --name NAME or --set NAME=VALUE');
        }
        const lab = await session.labNamed(wanted);
        const settings = set.length === 0 ? {} : settingsBody(set, await labSettings(session.api));
        const body = { ...settings, ...(name !== undefined && { name }) };
        const changed = (await session.api.request('PUT', pathOf(lab), body)) as ProjectObject;
        session.tell(`Lab "${changed.name}" is changed.`, lab.project_id, changed);
      },
    }),
    verb({
      name: 'duplicate',
      words: ['LAB', 'NAME'],
      summary: 'makes a closed copy with all files and disks; nodes must be stopped',
      flags: {
        'keep-macs': { summary: 'keep the MAC addresses of the nodes' },
        'new-macs': { summary: 'assign new MAC addresses (default)' },
        ...NUMBER,
      },
      run: async (session, [wanted, name], flags) => {
        if (flags['keep-macs'] && flags['new-macs']) throw new WrongUsage('Give --keep-macs or --new-macs, not both.');
        const lab = await session.labNamed(wanted);
        const body: v.InferInput<typeof ProjectDuplicate> = {
          name: name,
          reset_mac_addresses: flags['keep-macs'] !== true,
        };
        const made = await madeWithName(session, { name: name, number: flags.number === true }, () =>
          session.api.post<ProjectObject>(`${pathOf(lab)}/duplicate`, body),
        );
        session.tell(`Lab "${made.name}" created: ${made.project_id}`, made.project_id, made);
      },
    }),
    verb({
      name: 'delete',
      words: ['LAB'],
      summary: 'deletes it permanently, with all nodes, files and snapshots',
      run: async (session, [wanted]) => {
        const lab = await session.labNamed(wanted);
        await session.api.delete(pathOf(lab));
        session.tell(`Lab "${lab.name}" deleted.`, lab.project_id);
      },
    }),
    verb({
      name: 'start',
      words: ['LAB|FILE'],
      summary: 'starts all nodes, with a lab.yaml in its order until they are ready; opens a closed lab',
      flags: OUTSIDE,
      run: async (session, [wanted], flags) => {
        const lab = await (/\.ya?ml$/.test(wanted) ? startFile(session, wanted, flags) : startAll(session, wanted));
        session.tell(
          `Lab "${lab.name}" is started.`,
          lab.project_id,
          await session.api.get<ProjectObject>(pathOf(lab)),
        );
      },
    }),
    ...(['lock', 'unlock'] as const).map((name) =>
      verb({
        name,
        words: ['LAB'],
        summary:
          name === 'lock'
            ? 'locks all nodes and drawings of an open lab against moving and deleting'
            : 'unlocks all nodes and drawings of an open lab',
        run: async (session, [wanted]) => {
          const lab = await session.openLabNamed(wanted);
          await session.api.post(`${pathOf(lab)}/${name}`);
          session.tell(`Lab "${lab.name}" is ${name}ed.`, lab.project_id, lab);
        },
      }),
    ),
    step('stop', 'stops all nodes', 'is stopped', (session, lab) => forAll(session, lab, 'stop')),
    share,
    layoutVerb,
    notesVerb,
    exportVerb('export'),
    verb({
      name: 'check',
      words: ['FILE'],
      summary: 'checks a lab in text for errors, without a server',
      flags: OUTSIDE,
      run: async (session, [file], flags) => {
        const { checkLab } = await import('../labfile/read.ts');
        const { name, nodes, links, checks } = await checkLab(file, flags);
        const figures = { name, nodes: nodes.length, links: links.length, checks: checks.length };
        const parts = [counted(nodes.length, 'node'), counted(links.length, 'link'), counted(checks.length, 'check')];
        session.tell(`${file}: lab "${name}" is right: ${parts.join(', ')}`, name, figures);
      },
    }),
    verb({
      name: 'schema',
      summary: 'prints the JSON Schema of labs as text, for editors',
      flags: {
        to: { value: 'FILE', summary: 'instead of standard output' },
        force: REPLACES,
      },
      run: async (session, _words, { to = '-', force }) => {
        const { labSchemaText } = await import('../labfile/json-schema.ts');
        await mustBeFree(to, force === true);
        await save(session, Readable.from([labSchemaText()]), to);
      },
    }),
    verb({
      name: 'import',
      words: ['FILE'],
      summary: 'creates a closed lab from a file of lab export',
      flags: {
        name: { value: 'NAME', summary: "instead of the file's" },
        'new-macs': { summary: 'assign new MAC addresses, for a further copy in one network' },
        ...NUMBER,
      },
      run: async (session, [file], { name: given, number, 'new-macs': newMacs }) => {
        await session.labs(); // prompts for the password, if needed, before the file is sent
        const name = given ?? basename(file).replace(/\.[^.]+$/, '');
        const query = new URLSearchParams({ name });
        if (newMacs) query.set('reset_mac_addresses', 'yes');
        const path = `/v2/projects/${randomUUID()}/import?${query}`;
        const made = await madeWithName(session, { name, number: number === true }, async () => {
          using sent = await fileBody(session, file);
          return (await session.api.upload(path, sent.body).catch((error: unknown) => {
            throw error instanceof Failure ? new Failure(error.code, `${file}: ${error.message}`) : error;
          })) as ProjectObject;
        });
        session.tell(`Lab "${made.name}" imported: ${made.project_id}`, made.project_id, made);
      },
    }),
    verb({
      name: 'import-containerlab',
      words: ['FILE'],
      summary: 'converts a containerlab topology file to a lab in text, and reports what has no equivalent',
      flags: {
        to: { value: 'FILE', summary: 'the file to write; - is standard output (default)' },
        netem: { value: 'FILE', summary: 'the output of containerlab tools netem show --format json' },
        map: {
          value: 'KIND=TEMPLATE',
          many: true,
          summary: 'use a template for nodes of this kind; repeatable',
        },
        partial: { summary: 'succeed despite placeholders for unknown kinds' },
        'allow-outside': { summary: "accept bound files outside the topology file's folder" },
        force: REPLACES,
      },
      run: async (session, [file], flags) => {
        const { importContainerlab } = await import('../containerlab/import.ts');
        return importContainerlab(session, file, flags);
      },
    }),
  ],
};
