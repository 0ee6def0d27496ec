// A lab as a client sees it, each thing with all its members and each file with all its bytes, in a form that can be compared.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isBelow } from '../../src/host/files/relative-path.ts';
import { amidChanges } from '../amid-changes.ts';
import type { Answer, Daemon } from '../system/daemon.ts';

/** What a lab is asked through: a daemon, or one that is made worse on purpose (canaries.ts). */
export interface Server {
  ask: Daemon['ask'];
}

export const KINDS = ['node', 'link', 'drawing', 'file', 'snapshot', 'template', 'project'] as const;
export type Kind = (typeof KINDS)[number];

/** Things of each kind by id: all members as text, or the content of a file. */
export type LabState = Record<Kind, ReadonlyMap<string, string>>;

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into member by member
export type Members = Record<string, any>;

/** Files are few, so that they are written over. */
export const FILES = Array.from({ length: 8 }, (_, index) => `file-${index}.txt`);

/** Names of projects that changes make and remove beside the lab begin so; what else is there is somebody else's. */
export const BESIDE = 'Beside-';

/** The same text for the same members, whatever their order. */
export function textOf(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    member !== null && typeof member === 'object' && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([left], [right]) => (left < right ? -1 : 1)))
      : member,
  );
}

export const membersOf = (text: string | undefined): Members => JSON.parse(text ?? '{}') as Members;

/** The text of a thing: whether a lab is open is no part of what is kept; a console that is missing reads `none` once it was stored. */
export function thingText(kind: Kind, members: Members): string {
  const { status, ...others } = members;
  if (kind === 'project') return textOf(others);
  return textOf(kind === 'node' ? { ...members, console_type: members['console_type'] ?? 'none' } : members);
}

/** The state with some things of a kind replaced, or removed where the text is undefined. */
export function withThings(
  state: LabState,
  kind: Kind,
  things: Iterable<readonly [string, string | undefined]>,
): LabState {
  const changed = new Map(state[kind]);
  for (const [id, text] of things) {
    if (text === undefined) changed.delete(id);
    else changed.set(id, text);
  }
  return { ...state, [kind]: changed };
}

async function succeed(server: Server, path: string): Promise<Answer> {
  const answer = await server.ask('GET', path);
  if (answer.status !== 200) throw new Error(`GET ${path}: ${answer.status} ${answer.text.slice(0, 300)}`);
  return answer;
}

/** Reads all of it. @param path `/v2/projects/ID` */
export async function readLab(server: Server, path: string): Promise<LabState> {
  const listOf = async (kind: Kind, url: string) => {
    const { json } = await succeed(server, url);
    return new Map((json as Members[]).map((thing) => [thing[`${kind}_id`] as string, thingText(kind, thing)]));
  };
  const files = new Map<string, string>();
  for (const name of FILES) {
    const answer = await server.ask('GET', `${path}/files/${name}`);
    if (answer.status === 200) files.set(name, answer.text);
    else if (answer.status !== 404) throw new Error(`GET ${name}: ${answer.status}`);
  }
  const templates = await listOf('template', '/v2/templates');
  return {
    node: await listOf('node', `${path}/nodes`),
    link: await listOf('link', `${path}/links`),
    drawing: await listOf('drawing', `${path}/drawings`),
    snapshot: await listOf('snapshot', `${path}/snapshots`),
    template: new Map([...templates].filter(([, text]) => !membersOf(text)['builtin'])),
    project: await listOf('project', '/v2/projects'),
    file: files,
  };
}

/** What differs, a line for each thing. */
export function differencesOf(expected: LabState, found: LabState): string[] {
  return KINDS.flatMap((kind) => {
    const ids = new Set([...expected[kind].keys(), ...found[kind].keys()]);
    return [...ids].flatMap((id) => {
      const [own, there] = [expected[kind].get(id), found[kind].get(id)];
      return own === there ? [] : [`${kind} ${id}: expected ${briefly(own, there)}, found ${briefly(there, own)}`];
    });
  });
}

/** The part of a text in which it differs from another one. */
function briefly(text: string | undefined, other: string | undefined): string {
  if (text === undefined) return 'nothing';
  if (other === undefined) return text.slice(0, 200);
  let from = 0;
  while (from < text.length && text[from] === other[from]) from += 1;
  return `${text.length} characters, from ${from} on: ${text.slice(Math.max(0, from - 60), from + 140)}`;
}

/** Files in the directories of projects that nothing in the lab explains, and files that should be there and are not. */
export function strayFiles(projects: string, mainProject: string, state: LabState): string[] {
  const expected = new Set<string>();
  const others: string[] = [];
  for (const [id, text] of state.project) {
    const { name, filename } = membersOf(text);
    expected.add(id).add(`${id}/${filename}`);
    if (id !== mainProject && !name.startsWith(BESIDE)) others.push(id);
  }
  for (const name of state.file.keys()) expected.add(`${mainProject}/${name}`);
  const found = amidChanges(() => readdirSync(projects, { recursive: true }))
    .map(String)
    .filter((path) => !others.some((id) => isBelow(id, path) && !expected.has(path)));
  const isSnapshot = (path: string): boolean => isBelow(join(mainProject, 'snapshots'), path);
  const archives = found.filter((path) => isSnapshot(path) && path.endsWith('.gns3project'));
  const strays = found.filter((path) => !expected.has(path) && !archives.includes(path));
  return [
    ...strays.filter((path) => path !== join(mainProject, 'snapshots')).map((path) => `${path} is left over`),
    ...[...expected].filter((path) => !found.includes(path)).map((path) => `${path} is missing`),
    ...(archives.length === state.snapshot.size
      ? []
      : [`${state.snapshot.size} snapshots in ${archives.length} files`]),
  ];
}
