// Reads containerlab's topology file and keeps the line of each value (https://containerlab.dev/manual/topo-def-file/).
import * as v from 'valibot';
import { describeIssue } from '../../store/issues.ts';
import { reservedNames } from '../labfile/checking.ts';
import { LabFileMistakes } from '../labfile/file-mistakes.ts';
import { type Path, readSource } from '../labfile/source.ts';

const Scalar = v.union([v.string(), v.number(), v.boolean(), v.null()]);
const Texts = v.optional(v.nullable(v.array(v.string())));
const Values = v.optional(v.nullable(v.record(v.string(), Scalar)));

/** Supported members; any other member is reported. */
const NodeConfig = v.looseObject({
  kind: v.optional(v.string()),
  group: v.optional(v.string()),
  image: v.optional(v.string()),
  cmd: v.optional(v.string()),
  env: Values,
  sysctls: Values,
  labels: Values,
  'network-mode': v.optional(v.string()),
  exec: Texts,
  binds: Texts,
  'startup-delay': v.optional(v.number()),
  'wait-for': Texts,
  stages: v.optional(v.nullable(v.record(v.string(), v.nullable(v.looseObject({}))))),
});
export type NodeConfig = v.InferOutput<typeof NodeConfig>;

const Configs = v.optional(v.nullable(v.record(v.string(), v.nullable(NodeConfig))));

const LinkEnd = v.union([v.string(), v.looseObject({ node: v.string(), interface: v.optional(v.string()) })]);
const LinkConfig = v.looseObject({
  type: v.optional(v.string()),
  endpoints: v.optional(v.array(LinkEnd)),
  endpoint: v.optional(LinkEnd),
  mtu: v.optional(v.number()),
});
export type LinkConfig = v.InferOutput<typeof LinkConfig>;
export type LinkEndConfig = v.InferOutput<typeof LinkEnd>;

const File = v.looseObject({
  name: v.pipe(v.union([v.string(), v.number()]), v.transform(String), v.minLength(1)),
  topology: v.looseObject({
    defaults: v.optional(v.nullable(NodeConfig)),
    kinds: Configs,
    groups: Configs,
    nodes: Configs,
    links: v.optional(v.nullable(v.array(LinkConfig))),
  }),
});
export type TopologyContent = v.InferOutput<typeof File>;

export interface TopologyFile {
  content: TopologyContent;
  /** Variables of the shell that have neither a value nor a default, with the line of the first place. */
  unset: ReadonlyMap<string, number>;
  /** The line of the value or of its nearest parent, from 1 on. */
  lineOf(path: Path): number;
}

/** The text with the variables of containerlab's shell in it, such as `${TAG:=latest}`. */
function substituted(text: string, environment: Environment): { text: string; unset: Map<string, number> } {
  const unset = new Map<string, number>();
  const filled = text.replaceAll(
    /(?<!\$)\$(?:\{(\w+)([^{}\n]*)\}|([a-z_]\w*))/gi,
    (whole, braced: string | undefined, form = '', bare = '', offset = 0) => {
      const variable = braced ?? bare;
      const known = Object.hasOwn(environment, variable) ? environment[variable] : undefined;
      const [, usual] = /^:?[-=](.*)$/.exec(form) ?? [];
      // Other forms, such as ${NAME%.*}, stay.
      const value = /^(?:$|:?[-=?])/.test(form) ? known || usual : undefined;
      if (value === undefined && !unset.has(variable)) unset.set(variable, text.slice(0, offset).split('\n').length);
      return value ?? whole;
    },
  );
  return { text: filled, unset };
}

/** @throws LabFileMistakes for a template, which must be rendered by its program first */
function mustBeRendered(text: string, name: string): void {
  const [line = -1] = [
    text.split('\n').findIndex((one) => /\{\{-?\s*(?:range|if|end|define|with|template|\$)|:\s*\{\{/.test(one)),
  ];
  if (!name.endsWith('.gotmpl') && line < 0) return;
  const place = { line: Math.max(1, line + 1), column: 1 };
  const message = 'this is a template of Go, and no topology file as yet: render it first, as with gomplate';
  throw new LabFileMistakes(name, [{ ...place, message }]);
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads a topology file.
 * @param name of the file, for messages
 * @param environment variables of the shell
 * @throws LabFileMistakes with line numbers
 */
export function readTopology(source: string, name: string, environment: Environment = {}): TopologyFile {
  mustBeRendered(source, name);
  const { text, unset } = substituted(source, environment);
  const { value, placeOf } = readSource(name, text);
  const reserved = reservedNames(value).map(({ path, message }) => ({ ...placeOf(path, 'key'), message }));
  if (reserved.length > 0) throw new LabFileMistakes(name, reserved);
  const checked = v.safeParse(File, value);
  if (!checked.success) {
    const mistakes = checked.issues.map((issue) => {
      const path = (issue.path ?? []).map(({ key }) => key as string | number);
      return { ...placeOf(path), message: describeIssue({ ...issue, path: undefined }, path.join('.') || 'the file') };
    });
    throw new LabFileMistakes(name, mistakes);
  }
  return { content: checked.output, unset, lineOf: (path) => placeOf(path, 'key').line };
}
