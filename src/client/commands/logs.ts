// `labwired logs`: past and new log messages of a lab or node.
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { NodeObject, ProjectObject } from '../../api/objects.ts';
import type { DiskUse } from '../../api/routes/compute-nodes.ts';
import type { JournalEntry } from '../../api/routes/projects.ts';
import { WrongUsage } from '../../commands/wrong-usage.ts';
import { unavailable } from '../../failures.ts';
import { harmless } from '../../host/terminal/terminal-text.ts';
import { fitted } from '../../host/terminal/text-width.ts';
import { type Noun, verb } from '../frame/command.ts';
import { findNode, type Session } from '../frame/session.ts';
import { encodedPath } from '../server/encoded-path.ts';
import { inSeconds } from '../terminal/figures.ts';
import { momentOf } from '../terminal/parse-time.ts';

/** Last lines of each file, unless --tail says how many. */
const USUAL_LINES = 100;
/** Larger ones are no logs that anybody reads. */
const MOST_BYTES = 4 * 1024 * 1024;

interface LogFlags {
  follow?: true;
  since?: string;
  tail?: string;
  files?: true;
}

/** @throws WrongUsage */
function countOf(tail: string | undefined): number | undefined {
  if (tail === undefined) return undefined;
  if (/^\d{1,9}$/.test(tail)) return Number(tail);
  throw new WrongUsage(`--tail "${tail}": write how many lines, such as 20.`);
}

/** Prints entries, with the names of their nodes. */
class Printer {
  readonly #session: Session;
  readonly #lab: ProjectObject;
  #nodes: readonly NodeObject[];

  constructor(session: Session, lab: ProjectObject, nodes: readonly NodeObject[]) {
    this.#session = session;
    this.#lab = lab;
    this.#nodes = nodes;
  }

  async print(entry: JournalEntry): Promise<void> {
    const session = this.#session;
    if (session.json) return session.printJson(entry, 0);
    const { at, level, message, node_id: id, status } = entry;
    const said = message === null ? `${await this.#nameOf(id ?? '')} is ${status}` : `${level}: ${message}`;
    const line = harmless(`${inSeconds(new Date(at))}  ${said}`);
    session.print(session.width === undefined ? line : fitted(line, session.width));
  }

  /** Nodes may have been made since the command began; of one that is gone the beginning of its id must do. */
  async #nameOf(id: string): Promise<string> {
    const find = (): NodeObject | undefined => this.#nodes.find(({ node_id }) => node_id === id);
    if (!find()) this.#nodes = await this.#session.nodes(this.#lab).catch(() => this.#nodes);
    return find()?.name ?? `node ${id.slice(0, 8)}`;
  }
}

async function run(session: Session, [wanted, name]: readonly string[], flags: LogFlags): Promise<void> {
  if (session.quiet) throw new WrongUsage('--quiet: log entries have no identifiers; leave it out.');
  if (flags.files && name === undefined) throw new WrongUsage('--files needs a node: name it after the lab.');
  if (flags.files && flags.follow) throw new WrongUsage('--files cannot be followed: leave out --follow.');
  const since = flags.since === undefined ? undefined : momentOf('--since', flags.since);
  const most = countOf(flags.tail);
  const lab = wanted === undefined ? await session.lab() : await session.labNamed(wanted);
  const nodes = await session.nodes(lab);
  const node = name === undefined ? undefined : findNode(nodes, name);
  const printer = new Printer(session, lab, nodes);
  const query = node ? `?node_id=${node.node_id}` : '';
  const path = `/v2/projects/${lab.project_id}/journal`;
  // The stream starts with the same entries, so that none is lost in between.
  const kept = await session.api.get<JournalEntry[]>(path + query);
  const recent = kept.filter(({ at }) => since === undefined || new Date(at) >= since);
  const shown = most === undefined ? recent : recent.slice(recent.length - Math.min(most, recent.length));
  if (!flags.follow) {
    for (const entry of shown) await printer.print(entry);
    if (node && flags.files) await printFiles(session, lab, node, most ?? USUAL_LINES);
    return;
  }
  await follow(session, `${path}/stream${query}`, printer, kept.length - shown.length);
}

/** All entries of the stream but the first ones. */
async function follow(session: Session, path: string, printer: Printer, leftOut: number): Promise<void> {
  const stream = await session.api.stream(path);
  session.ending.isUsual = true;
  let count = 0;
  for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line === '') continue;
    count += 1;
    if (count > leftOut) await printer.print(JSON.parse(line) as JournalEntry);
  }
  throw unavailable('The server ended the log, because it stops or the lab was deleted.');
}

/** The ends of the logs that a node's program has written into the node's directory. */
async function printFiles(session: Session, lab: ProjectObject, node: NodeObject, most: number): Promise<void> {
  const path = `/v2/projects/${lab.project_id}/nodes/${node.node_id}`;
  const { files } = await session.api.get<DiskUse>(`${path}/disk_use`);
  for (const { path: file, size } of files) {
    if (!/(\.log|_log\.txt)$/.test(file) || size === 0 || size > MOST_BYTES) continue;
    const content = await text(await session.api.stream(`${path}/files/${encodedPath(file)}`));
    const lines = content.trimEnd().split(/\r?\n/);
    const last = lines.slice(lines.length - Math.min(most, lines.length));
    if (!session.json) session.print(`==> ${harmless(file)} <==`);
    for (const line of last) session.json ? session.printJson({ file, line }, 0) : session.print(harmless(line));
  }
}

export const logs: Noun = {
  name: 'logs',
  summary: 'messages about a lab, and states of its nodes',
  verbs: [
    verb({
      name: '',
      words: ['[LAB]', '[NODE]'],
      summary: 'prints the last 500 entries of a lab, or of a node; --json: a line of JSON for each',
      flags: {
        follow: { short: 'f', summary: 'then print new entries, until Ctrl+C' },
        since: { value: 'TIME', summary: 'entries since 10m ago, 09:12, 2026-11-23 or "2026-11-23 09:12"' },
        tail: { value: 'NUMBER', short: 'n', summary: 'only so many of the last entries' },
        files: { summary: "also print the ends of the logs in the node's directory" },
      },
      run: (session, words, flags) => run(session, words, flags),
    }),
  ],
};
