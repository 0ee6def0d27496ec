// `labwired lab import-containerlab`: a topology file of containerlab as a lab in text.
import { readdirSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { stringify } from 'yaml';
import { fileFailure } from '../../host/atomic-file.ts';
import { mustBeFree, save } from '../files.ts';
import { literal } from '../labfile/substitution.ts';
import type { Session } from '../session.ts';
import { harmless } from '../text-width.ts';
import { type BindSource, MOST_FILES } from './container.ts';
import { convertTopology } from './convert.ts';
import { readTopology } from './file.ts';
import { shownNetem } from './netem.ts';

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw fileFailure(error, file);
  }
}

/** Files that are bound, as seen from the topology file; their paths are given as seen from the lab's file. */
function bindSource(topology: string, target: string, lab: string): BindSource {
  const base = dirname(resolve(topology));
  const from = dirname(resolve(target));
  return {
    files: (source) => {
      const plain = source.replaceAll('__clabDir__', `clab-${lab}`).replace(/^~(?=\/)/, homedir());
      const place = resolve(base, plain);
      try {
        const named = (path: string): string => relative(from, path);
        if (statSync(place).isFile()) return new Map([['', named(place)]]);
        const entries = readdirSync(place, { recursive: true, encoding: 'utf8' }).filter((one) =>
          statSync(join(place, one)).isFile(),
        );
        if (entries.length === 0 || entries.length > MOST_FILES) return undefined;
        return new Map(entries.map((one) => [one, named(join(place, one))]));
      } catch {
        return undefined;
      }
    },
  };
}

/** Nothing in it is a variable of the lab. */
function literally<T>(value: T): T {
  if (typeof value === 'string') return literal(value) as T;
  if (Array.isArray(value)) return value.map(literally) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, literally(one)])) as T;
}

export async function importContainerlab(
  session: Session,
  file: string,
  { to = '-', netem: shown, force }: { to?: string; netem?: string; force?: true },
): Promise<void> {
  const topology = readTopology(await textOf(file), file, session.variables);
  const netem = shown === undefined ? new Map() : shownNetem(await textOf(shown), shown);
  if (to !== '-') await mustBeFree(to, force === true);
  const binds = bindSource(file, to === '-' ? file : to, topology.content.name);
  const { lab, report } = convertTopology(topology, { binds, netem });
  const { remarks } = report;
  const text = stringify(literally(lab), { lineWidth: 0 });
  if (session.json) session.print(JSON.stringify({ lab, report: remarks }, null, 2));
  else await save(session, Readable.from([text]), to);
  for (const remark of remarks) session.remark(`${harmless(file)}:${remark.line}: ${remark.text}`);
  const count = remarks.length === 1 ? '1 remark' : `${remarks.length} remarks`;
  session.remark(
    `${Object.keys(lab.nodes ?? {}).length} nodes and ${lab.links?.length ?? 0} links, ${remarks.length === 0 ? 'nothing is left out' : count}.`,
  );
}
