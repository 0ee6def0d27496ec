// Reads a lab from its file: parses, checks and expands it.
import { dirname, resolve } from 'node:path';
import * as v from 'valibot';
import type { Variables } from '../../api/vocabulary.ts';
import { FILTERS, normalizedFilters } from '../../controller/links/filters.ts';
import { Failure, invalid, messageOf } from '../../failures.ts';
import { nearest } from '../../host/values/nearest-name.ts';
import { isPathPart } from '../server/encoded-path.ts';
import { textOfFile } from '../terminal/files.ts';
import { checkSource, wrongIn } from './checking.ts';
import { type Beside, contentOf, type WantedText } from './contents.ts';
import { LabFileMistakes, type Mistake } from './file-mistakes.ts';
import { endsOf } from './link-ends.ts';
import { portMistakes, portsByFile } from './link-ports.ts';
import {
  nodeKey,
  type Origin,
  STANDARD_INPUT,
  type WantedCheck,
  type WantedDrawing,
  type WantedLab,
  type WantedLink,
  type WantedNode,
} from './model.ts';
import { wrongSettings } from './node-settings.ts';
import { checkMistakes, referenceMistakes } from './references.ts';
import { type Check, ChecksText, type LabText, type NodeText } from './schema.ts';
import { type Path, readSource, type Source } from './source.ts';
import { copiesOf, filled, filledText, type Values } from './substitution.ts';

/** The flag of commands that read a lab's file. */
export interface OutsideFlag {
  readonly 'allow-outside'?: true;
}

/** How far copies of a node stand from each other. */
const USUAL_STEP = [120, 0] as const;

/**
 * Reads the file of a lab; `-` is standard input.
 * @throws LabFileMistakes with all that is wrong in it; Failure when it cannot be read
 */
export async function readLab(file: string, flags: OutsideFlag = {}): Promise<WantedLab> {
  return parseLab(await textOfFile(file), file, besideOf(file, flags));
}

/** The files that a file may name: those in its folder, and others if that is allowed. */
export const besideOf = (file: string, flags: OutsideFlag = {}): Beside => ({
  directory: file === '-' ? '.' : dirname(resolve(file)),
  outside: flags['allow-outside'] === true,
});

const shownName = (file: string): string => (file === '-' ? STANDARD_INPUT : file);

/**
 * The checks in a file; `isAlone` if it has nothing else and so describes no lab.
 * @throws LabFileMistakes if it is not YAML
 */
export function checksWithin(content: string, file: string): { isAlone: boolean; variables: unknown; checks: unknown } {
  const { value } = readSource(shownName(file), content);
  const members = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  const { variables, checks, ...others } = members;
  return { isAlone: checks !== undefined && Object.keys(others).length === 0, variables, checks };
}

/**
 * The checks of a file without a lab.
 * @param names of the nodes of the lab to check
 * @throws LabFileMistakes
 */
export async function parseChecks(content: string, file: string, names: readonly string[]): Promise<WantedCheck[]> {
  const shown = shownName(file);
  const source = readSource(shown, content);
  const wrong = wrongIn(ChecksText, source.value);
  const mistakes = wrong.map(({ path, of, message }): Mistake => ({ ...source.placeOf(path, of), message }));
  if (mistakes.length > 0) throw new LabFileMistakes(shown, mistakes);
  const text = { name: shown, ...v.parse(ChecksText, source.value) };
  const { checks } = await new Reader(source, text, besideOf(file), mistakes).lab(shown);
  if (mistakes.length === 0) mistakes.push(...checkMistakes(checks, names));
  if (mistakes.length > 0) throw new LabFileMistakes(shown, mistakes);
  return checks;
}

/**
 * Also checks links, as far as possible without a server.
 * @throws LabFileMistakes
 */
export async function checkLab(file: string, flags: OutsideFlag = {}): Promise<WantedLab> {
  const lab = await readLab(file, flags);
  const mistakes = portMistakes(lab, portsByFile);
  if (mistakes.length > 0) throw new LabFileMistakes(lab.file, mistakes);
  return lab;
}

/**
 * @param file its name, for messages
 * @param beside the files that it may name
 * @throws LabFileMistakes
 */
export async function parseLab(content: string, file: string, beside = besideOf('-')): Promise<WantedLab> {
  const shown = shownName(file);
  const source = readSource(shown, content);
  const { text, mistakes } = checkSource(source);
  if (!text) throw new LabFileMistakes(shown, mistakes);
  const lab = await new Reader(source, text, beside, mistakes).lab(shown);
  if (mistakes.length === 0) mistakes.push(...referenceMistakes(lab));
  if (mistakes.length > 0) throw new LabFileMistakes(shown, mistakes);
  return lab;
}

class Reader {
  readonly #source: Source;
  readonly #text: LabText;
  readonly #beside: Beside;
  readonly #mistakes: Mistake[];
  readonly #values: Values;

  constructor(source: Source, text: LabText, beside: Beside, mistakes: Mistake[]) {
    this.#source = source;
    this.#text = text;
    this.#beside = beside;
    this.#mistakes = mistakes;
    this.#values = text.variables ?? {};
  }

  async lab(file: string): Promise<WantedLab> {
    const { name, id, settings = {}, checks = [] } = this.#text;
    const nodes = await this.#nodes();
    const lab: WantedLab = {
      file,
      name: (await this.#try(['name'], () => filledText(name, this.#values))) ?? name,
      id: id?.toLowerCase(),
      settings,
      variables: variablesOf(this.#text),
      nodes,
      links: await this.#links(nodes),
      drawings: await this.#drawings(),
      checks: [],
    };
    for (const [index, check] of checks.entries()) {
      const path = ['checks', index];
      const place = this.#source.placeOf(path);
      const copies = await this.#try(path, () => checkCopies(check));
      for (const { check: copy, number } of copies ?? []) {
        const values = number === undefined ? this.#values : { ...this.#values, n: number };
        const done = await this.#try(path, () => filled(copy, values, { typed: false }));
        if (!done) break;
        lab.checks.push({ ...done, place });
      }
    }
    return lab;
  }

  /** The result of `take`; a failure is noted as a mistake at this place. */
  async #try<T>(path: Path, take: () => T | Promise<T>, of?: 'key'): Promise<T | undefined> {
    try {
      return await take();
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      this.#mistakes.push({ ...this.#source.placeOf(path, of), message: `${path.join('.')}: ${messageOf(error)}` });
      return undefined;
    }
  }

  async #nodes(): Promise<WantedNode[]> {
    const nodes: WantedNode[] = [];
    const names = new Map<string, string>();
    for (const [key, text] of Object.entries(this.#text.nodes ?? {})) {
      const path = ['nodes', key];
      const copies = await this.#try(path, () => copiesOf(filledText(key, this.#values)), 'key');
      for (const [index, copy] of (copies ?? []).entries()) {
        const known = this.#mistakes.length;
        const node = await this.#node(path, text, copy.text, {
          index,
          values: copy.number === undefined ? this.#values : { ...this.#values, n: copy.number },
        });
        const other = names.get(nodeKey(node.name));
        if (other !== undefined) {
          await this.#try(
            path,
            () => {
              throw invalid(`there is a node "${node.name}" already (${other}); choose another name`);
            },
            'key',
          );
        }
        names.set(nodeKey(node.name), key);
        nodes.push(node);
        // The other copies have the same mistakes.
        if (this.#mistakes.length > known) break;
      }
    }
    return nodes;
  }

  async #node(
    path: Path,
    { config, private_config, files = {}, step = [...USUAL_STEP], start = {}, ...text }: NodeText,
    name: string,
    { index, values }: { index: number; values: Values },
  ): Promise<WantedNode> {
    const rest = (await this.#try(path, () => ({
      ...filled(text, values),
      start: filled(start, values, { typed: false }),
    }))) ?? { start: {} };
    const content = (member: string, given: NodeText['config']): Promise<WantedText | undefined> =>
      given === undefined
        ? Promise.resolve(undefined)
        : this.#try([...path, member], () => contentOf(given, this.#beside, values));
    const origin: Origin = { path, placeOf: (below, of) => this.#source.placeOf([...path, ...below], of) };
    const place = this.#source.placeOf(path, 'key');
    const node: WantedNode = { ...rest, name, place, origin, files: {}, start: rest.start };
    if (node.type !== undefined && node.template === undefined) {
      const wrong = wrongSettings(node.type, node, path);
      this.#mistakes.push(...wrong.map((one) => ({ ...origin.placeOf(one.path, one.of), message: one.message })));
    }
    const kept = new Map<string, WantedText>();
    for (const [file, given] of Object.entries(files)) {
      await this.#try([...path, 'files', file], async () => {
        const filledIn = filledText(file, values);
        if (!filledIn.split('/').every(isPathPart))
          throw invalid(`"${filledIn}" is not below the directory of the node; write a path such as etc/hosts`);
        if (kept.has(filledIn)) throw invalid(`there is a file "${filledIn}" already; choose another path`);
        kept.set(filledIn, await contentOf(given, this.#beside, values));
      });
    }
    const [startup, secret] = [await content('config', config), await content('private_config', private_config)];
    if (startup) node.config = startup;
    if (secret) node.private_config = secret;
    node.files = Object.fromEntries(kept);
    if (node.at) node.at = [node.at[0] + index * step[0], node.at[1] + index * step[1]];
    return node;
  }

  async #links(nodes: readonly WantedNode[]): Promise<WantedLink[]> {
    const names = nodes.map(({ name }) => name);
    const links: WantedLink[] = [];
    for (const [index, entry] of (this.#text.links ?? []).entries()) {
      const path = ['links', index];
      const { link: text, ...rest } = typeof entry === 'string' ? { link: entry } : entry;
      const place = this.#source.placeOf(typeof entry === 'string' ? path : [...path, 'link']);
      const copies = await this.#try(path, () => linkCopies(filledText(text, this.#values)));
      for (const { text: copy, number } of copies ?? []) {
        const values = number === undefined ? this.#values : { ...this.#values, n: number };
        const link = await this.#try(path, () => ({
          ...filled(rest, values),
          text: copy,
          place,
          ends: endsOf(copy, names),
        }));
        if (!link) break;
        const known = this.#mistakes.length;
        for (const [filter, value] of Object.entries(link.filters ?? {}))
          await this.#try([...path, 'filters', filter], () => mustBeFilter(filter, value));
        if (this.#mistakes.length > known) break;
        links.push(link);
      }
    }
    return links;
  }

  async #drawings(): Promise<WantedDrawing[]> {
    const drawings: WantedDrawing[] = [];
    for (const [index, { svg, ...rest }] of (this.#text.drawings ?? []).entries()) {
      const path = ['drawings', index];
      const content = await this.#try([...path, 'svg'], () => contentOf(svg, this.#beside, this.#values));
      if (content) drawings.push({ ...rest, svg: content.bytes.toString('utf8'), place: this.#source.placeOf(path) });
    }
    return drawings;
  }
}

/** @throws Failure `invalid` for values that the filter does not take, and for a name that is nearly that of one */
function mustBeFilter(name: string, value: unknown): void {
  const meant = nearest(
    name,
    FILTERS.map(({ type }) => type),
  );
  // Servers store unknown filters for other clients, so a misspelled name would go unnoticed.
  if (meant !== undefined && meant !== name) throw invalid(`there is no filter "${name}"; did you mean "${meant}"?`);
  try {
    normalizedFilters({ [name]: [value].flat() });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw invalid(error.message.replace(/^filters\.\w+: /, ''));
  }
}

/** The links of a text with ranges: both sides count together, and a side without one is the same for all. */
function linkCopies(text: string): { text: string; number: number | undefined }[] {
  const sides = text.split(/(\s+--\s+)/).map((side) => copiesOf(side));
  const count = Math.max(...sides.map((copies) => copies.length));
  if (sides.some((copies) => copies.length !== 1 && copies.length !== count)) {
    throw invalid(`the ranges of "${text}" have different lengths: use the same number on both sides`);
  }
  return Array.from({ length: count }, (_, index) => {
    const parts = sides.map((copies) => copies[copies.length === 1 ? 0 : index]!);
    return {
      text: parts.map((part) => part.text).join(''),
      number: parts.find(({ number }) => number !== undefined)?.number,
    };
  });
}

/** The checks that one with ranges stands for; all ranges in it count together. */
function checkCopies(check: Check): { check: Check; number: number | undefined }[] {
  return copiesOf(JSON.stringify(check)).map(({ text, number }) => ({ check: JSON.parse(text) as Check, number }));
}

function variablesOf({ variables }: LabText): Variables | undefined {
  if (variables === undefined) return undefined;
  return Object.entries(variables).map(([name, value]) => ({ name, ...(value !== null && { value: String(value) }) }));
}
