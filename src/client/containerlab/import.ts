// `labwired lab import-containerlab`: converts a containerlab topology file to a lab file.
import { readdirSync, realpathSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { Document } from 'yaml';
import { WrongUsage } from '../../commands/wrong-usage.ts';
import { conflict, messageOf, systemCode } from '../../failures.ts';
import { fileFailure, throwFileFailure } from '../../host/files/atomic-file.ts';
import { isBelow } from '../../host/files/relative-path.ts';
import { harmless } from '../../host/terminal/terminal-text.ts';
import { suggestion } from '../../host/values/nearest-name.ts';
import type { Session } from '../frame/session.ts';
import { literal } from '../labfile/substitution.ts';
import { yamlText } from '../labfile/yaml-text.ts';
import { pairOf } from '../server/settings.ts';
import { counted, namesInWords } from '../terminal/counted.ts';
import { isStandardOutput, mustBeFree, save } from '../terminal/files.ts';
import { type BindSource, MOST_FILES, NodeDefinition } from './container.ts';
import { convertTopology, type Templates } from './convert.ts';
import { readTopology, type TopologyContent } from './file.ts';
import { shownNetem } from './netem.ts';

const textOf = (file: string): Promise<string> => readFile(file, 'utf8').catch(throwFileFailure(file));

/** Bound files, found relative to the topology file; the resulting paths are relative to the lab file. */
function bindSource(
  topology: string,
  { target, lab, outside }: { target: string; lab: string; outside: boolean },
): BindSource {
  const base = dirname(resolve(topology));
  const from = dirname(resolve(target));
  return {
    files: (source) => {
      const plain = source.replaceAll('__clabDir__', `clab-${lab}`).replace(/^~(?=\/)/, homedir());
      const place = resolve(base, plain);
      try {
        const root = realpathSync(base);
        const isOutside = (path: string): boolean => {
          const real = realpathSync(path);
          return !outside && real !== root && !isBelow(root, real);
        };
        if (isOutside(place)) return `${place} is outside of the topology file's folder; --allow-outside takes it`;
        const named = (path: string): string => relative(from, path);
        const found = statSync(place);
        if (found.isFile()) return new Map([['', named(place)]]);
        if (!found.isDirectory()) return `${place} is neither a file nor a folder`;
        const files: string[] = [];
        for (const entry of walk(place)) {
          if (isOutside(join(place, entry)))
            return `${join(place, entry)} is outside of the topology file's folder; --allow-outside takes it`;
          if (!statSync(join(place, entry)).isFile())
            return `${join(place, entry)} is neither a file nor a folder, or leads back to a folder above it`;
          files.push(entry);
          if (files.length > MOST_FILES) return `${place} has more than ${MOST_FILES} files`;
        }
        if (files.length === 0) return `${place} has no files`;
        return new Map(files.map((one) => [one, named(join(place, one))]));
      } catch (error) {
        return systemCode(error) === 'ENOENT' ? `${place} is missing` : messageOf(fileFailure(error, place));
      }
    },
  };
}

/** All files below a folder by their relative paths, read lazily; links are followed, except those to a folder above. */
function* walk(folder: string, below = '', above: readonly string[] = []): Generator<string> {
  const here = join(folder, below);
  const parents = [...above, realpathSync(here)];
  for (const name of readdirSync(here)) {
    const path = join(below, name);
    const place = join(here, name);
    if (statSync(place).isDirectory() && !parents.includes(realpathSync(place))) yield* walk(folder, path, parents);
    else yield path;
  }
}

/** `KIND=TEMPLATE` of the flags. @throws WrongUsage for a kind that the topology does not have */
function templatesOf(given: readonly string[], { topology }: TopologyContent): Templates {
  const kinds = new Set(Object.keys(topology.nodes ?? {}).map((name) => new NodeDefinition({ topology }, name).kind));
  return new Map(
    given.map((word) => {
      const [kind, template] = pairOf('--map', word, '"nokia_srlinux=My SR Linux"');
      if (kinds.has(kind)) return [kind, template] as const;
      throw new WrongUsage(`--map ${word}: no node is of kind "${kind}"; ${suggestion(kind, [...kinds])}`);
    }),
  );
}

/** Nothing in it is a variable of the lab. */
function literally<T>(value: T): T {
  if (typeof value === 'string') return literal(value) as T;
  if (Array.isArray(value)) return value.map(literally) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, literally(one)])) as T;
}

interface ImportFlags {
  to?: string;
  netem?: string;
  map?: readonly string[];
  partial?: true;
  force?: true;
  'allow-outside'?: true;
}

/** @throws Failure `conflict` if there are placeholders and these are not allowed; the lab file is written anyway */
export async function importContainerlab(
  session: Session,
  file: string,
  { to = '-', netem: shown, map = [], partial, force, ...flags }: ImportFlags,
): Promise<void> {
  const topology = readTopology(await textOf(file), file, session.variables);
  const netem = shown === undefined ? new Map() : shownNetem(await textOf(shown), shown);
  await mustBeFree(to, force === true);
  const binds = bindSource(file, {
    target: isStandardOutput(to) ? file : to,
    lab: topology.content.name,
    outside: flags['allow-outside'] === true,
  });
  const templates = templatesOf(map, topology.content);
  const { lab, report, placeholders } = convertTopology(topology, { binds, netem, templates });
  const { remarks } = report;
  const text = yamlText(new Document(literally(lab)));
  if (session.json) session.printJson({ lab, report: remarks });
  else await save(session, Readable.from([text]), to);
  for (const remark of remarks) session.remark(`${harmless(file)}:${remark.line}: ${remark.text}`);
  const figures = [counted(Object.keys(lab.nodes ?? {}).length, 'node'), counted(lab.links?.length ?? 0, 'link')];
  const said = remarks.length === 0 ? 'nothing is left out' : counted(remarks.length, 'remark');
  session.remark(`${figures.join(' and ')}, ${said}.`);
  if (placeholders.length === 0 || partial) return;
  const names = namesInWords(placeholders.map(({ name }) => name));
  throw conflict(
    `${counted(placeholders.length, 'node')} of unknown kind or without an image: ${names}. ${fixFor(placeholders)}`,
  );
}

function fixFor(placeholders: readonly NodeDefinition[]): string {
  const [kind] = placeholders.flatMap((one) => (['', 'linux'].includes(one.kind) ? [] : [one.kind]));
  const fix = kind === undefined ? 'Write their kinds and images' : `Name a template with --map ${kind}=TEMPLATE`;
  return `${fix}, or keep containers in their place with --partial.`;
}
