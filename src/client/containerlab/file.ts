// containerlab's topology file as it is written, and where in it everything stands (https://containerlab.dev/manual/topo-def-file/).
import * as v from 'valibot';
import { describeIssue } from '../../store/issues.ts';
import { LabFileMistakes } from '../labfile/mistakes.ts';
import { type Path, readSource } from '../labfile/source.ts';

const Scalar = v.union([v.string(), v.number(), v.boolean(), v.null()]);
const Texts = v.optional(v.nullable(v.array(v.string())));
const Values = v.optional(v.nullable(v.record(v.string(), Scalar)));

/** What is looked at; nodes have many more members, which are reported. */
const NodeConfig = v.looseObject({
  kind: v.optional(v.string()),
  group: v.optional(v.string()),
  image: v.optional(v.string()),
  cmd: v.optional(v.string()),
  env: Values,
  sysctls: Values,
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
  /** The line on which it begins, or what it is in; from 1 on. */
  lineOf(path: Path): number;
}

/**
 * Reads a topology file.
 * @param name of the file, for messages
 * @throws LabFileMistakes with their lines for what cannot be one
 */
export function readTopology(text: string, name: string): TopologyFile {
  const { value, placeOf } = readSource(name, text);
  const checked = v.safeParse(File, value);
  if (!checked.success) {
    const mistakes = checked.issues.map((issue) => {
      const path = (issue.path ?? []).map(({ key }) => key as string | number);
      return { ...placeOf(path), message: describeIssue({ ...issue, path: undefined }, path.join('.') || 'the file') };
    });
    throw new LabFileMistakes(name, mistakes);
  }
  return { content: checked.output, lineOf: (path) => placeOf(path, 'key').line };
}
