// One run of a command: its server and lab, and the output of results.
import { readFile } from 'node:fs/promises';
import type { NodeObject, ProjectObject } from '../../api/objects.ts';
import { conflict, invalid } from '../../failures.ts';
import { throwFileFailure } from '../../host/files/atomic-file.ts';
import { askSecret } from '../../host/terminal/ask-secret.ts';
import { quoted } from '../../host/terminal/shell-word.ts';
import { tableLines } from '../../host/terminal/table.ts';
import { harmless, jsonText } from '../../host/terminal/terminal-text.ts';
import { Api } from '../server/api.ts';
import { findNamed } from '../server/find.ts';
import { readNodes } from '../server/nodes.ts';
import { type Choice, type ChoiceFlags, type ClientEnvironment, chooseServer } from '../server/server-choice.ts';
import { Ending } from './ending.ts';

/** The flags of every command that are used here. */
export interface SessionFlags extends ChoiceFlags {
  readonly json?: true;
  readonly quiet?: true;
  readonly lab?: string;
}

export interface Column<T> {
  heading: string;
  cell: (one: T) => string;
}

export class Session {
  readonly api: Api;
  readonly ending = new Ending();
  readonly flags: SessionFlags;
  readonly contextFile: string;
  readonly variables: ClientEnvironment['variables'];
  /** The lab of commands that name none. */
  readonly #usualLab: string | undefined;

  private constructor(api: Api, choice: Choice, flags: SessionFlags, { lab, contexts, variables }: ClientEnvironment) {
    this.api = api;
    api.pause = () => this.ending.pause;
    this.flags = flags;
    this.contextFile = contexts;
    this.variables = variables;
    this.#usualLab = lab || choice.lab;
  }

  /** @throws WrongUsage, Failure of the password's file */
  static async open(flags: SessionFlags, environment: ClientEnvironment): Promise<Session> {
    const choice = await chooseServer(flags, environment);
    const { server: url, passwordFile, token } = choice;
    const shown = flags['password-file'] === undefined ? "The context's password file" : '--password-file';
    const api = new Api({
      url,
      password: passwordFile ? await firstLineOf(passwordFile, shown) : token,
      askPassword: process.stdin.isTTY ? askSecret : undefined,
    });
    return new Session(api, choice, flags, environment);
  }

  /** For commands that speak to no server: it is not looked for. */
  static withoutServer(flags: SessionFlags, environment: ClientEnvironment): Promise<Session> {
    const choice = { server: 'unix:/nowhere' };
    return Promise.resolve(new Session(new Api({ url: choice.server }), choice, flags, environment));
  }

  /** For programs: results are the API's own objects. */
  get json(): boolean {
    return this.flags.json === true;
  }

  /** For scripts: results are identifiers alone. */
  get quiet(): boolean {
    return this.flags.quiet === true;
  }

  /** Terminal width in columns; undefined without a terminal. */
  get width(): number | undefined {
    return process.stdout.isTTY ? process.stdout.columns || undefined : undefined;
  }

  print(text: string): void {
    process.stdout.write(`${text}\n`);
  }

  /** @param indent 0: on one line */
  printJson(value: unknown, indent = 2): void {
    this.print(jsonText(value, indent));
  }

  /** Prints objects as a table, as JSON, or as ids. */
  show<T>(objects: readonly T[], id: (one: T) => string, columns: readonly Column<T>[]): void {
    if (this.json) this.printJson(objects);
    else if (this.quiet) for (const one of objects) this.print(harmless(id(one)));
    else {
      const rows = objects.map((one) => columns.map(({ cell }) => cell(one)));
      const headings = columns.map(({ heading }) => heading);
      for (const line of tableLines(headings, rows, this.width)) this.print(line);
    }
  }

  /** Reports a completed action: as a sentence, as JSON of its object, or as the object's id. */
  tell(sentence: string, id: string, object?: object): void {
    if (this.json) {
      if (object !== undefined) this.printJson(object);
    } else this.print(harmless(this.quiet ? id : sentence));
  }

  /** A remark for people, apart from the results. */
  remark(sentence: string): void {
    if (!this.quiet && !this.json) process.stderr.write(`${harmless(sentence)}\n`);
  }

  labs(): Promise<ProjectObject[]> {
    return this.api.get('/v2/projects');
  }

  /** The lab of this name or id. @throws Failure */
  async labNamed(wanted: string): Promise<ProjectObject> {
    const named = ({ project_id: id, name }: ProjectObject) => ({ id, name });
    return findNamed('lab', await this.labs(), named, wanted);
  }

  /** The open lab of this name or id. @throws Failure */
  async openLabNamed(wanted: string): Promise<ProjectObject> {
    const lab = await this.labNamed(wanted);
    if (lab.status === 'opened') return lab;
    throw conflict(`Lab "${lab.name}" is closed: labwired lab open ${quoted(lab.name)}`);
  }

  /** The lab that `--lab` names, or the environment; else the one that is open. @throws Failure */
  async lab(): Promise<ProjectObject> {
    const wanted = this.flags.lab ?? this.#usualLab;
    if (wanted) return this.labNamed(wanted);
    const open = (await this.labs()).filter(({ status }) => status === 'opened');
    if (open.length === 1) return open[0]!;
    const names = open.map(({ name }) => `"${name}"`).join(', ');
    throw conflict(
      open.length === 0
        ? 'No lab is open: open one with labwired lab open LAB, or name one with --lab LAB.'
        : `${open.length} labs are open, ${names}: name one with --lab LAB.`,
    );
  }

  nodes(lab: ProjectObject): Promise<NodeObject[]> {
    return readNodes(this.api, lab);
  }

  /**
   * The nodes with these names or ids, in this order.
   * @throws Failure for the first missing one
   */
  async nodesNamed(lab: ProjectObject, wanted: readonly string[]): Promise<NodeObject[]> {
    const all = await this.nodes(lab);
    return wanted.map((word) => findNode(all, word));
  }
}

export function findNode(all: readonly NodeObject[], wanted: string): NodeObject {
  return findNamed('node', all, ({ node_id: id, name }) => ({ id, name }), wanted);
}

/**
 * The first line of a file: a password or token.
 * @param source name for messages
 */
export async function firstLineOf(file: string, source: string): Promise<string> {
  const shown = `${source} ${file}`;
  const content = await readFile(file, 'utf8').catch(throwFileFailure(shown));
  const [line = ''] = content.split(/\r?\n/);
  if (line === '') throw invalid(`${shown}: its first line is empty.`);
  return line;
}
