// `labwired link`: links between nodes.
import * as v from 'valibot';
import { PRESETS } from '../../api/impairment-presets.ts';
import { DirectionImpairments } from '../../api/impairments.ts';
import type { LinkObject, NodeObject, ProjectObject } from '../../api/objects.ts';
import type { LinkBody } from '../../api/routes/links.ts';
import { WrongUsage } from '../../commands/wrong-usage.ts';
import { nearest, suggestion } from '../../host/values/nearest-name.ts';
import { type Noun, verb } from '../frame/command.ts';
import { findNode, type Session } from '../frame/session.ts';
import { endText, findLink, parseEnd, portsToJoin } from '../server/link-ends.ts';
import { pairOf, parsed } from '../server/settings.ts';

const idOf = ({ link_id }: LinkObject): string => link_id;

export interface Wiring {
  lab: ProjectObject;
  nodes: NodeObject[];
  links: LinkObject[];
  /** Of the links' routes. */
  path: string;
}

/** The lab that is meant, with its nodes and links. */
export async function wiring(session: Session): Promise<Wiring> {
  const lab = await session.lab();
  const path = `/v2/projects/${lab.project_id}/links`;
  const [nodes, links] = await Promise.all([session.nodes(lab), session.api.get<LinkObject[]>(path)]);
  return { lab, nodes, links, path };
}

function endsText(nodes: NodeObject[], link: LinkObject): string {
  return link.nodes.map((end) => endText(nodes, end)).join(' and ');
}

function stateOf({ capturing, suspend, impairments }: LinkObject): string {
  return [capturing && 'captured', suspend && 'suspended', impairments && 'impaired'].filter(Boolean).join(', ');
}

interface UpdateFlags {
  impair?: readonly string[];
  from?: string;
  clear?: true;
  suspend?: true;
  resume?: true;
}

/** The change that the flags ask of a link. @throws WrongUsage, Failure for an end that it has not */
function changeOf(flags: UpdateFlags, found: LinkObject, nodes: readonly NodeObject[]): object {
  const { impair, from, clear, suspend, resume } = flags;
  const direction = from === undefined ? 'both' : directionFrom(found, findNode(nodes, from));
  const { preset, subscriber, ...members } = impairmentsOf(impair ?? []);
  if (from !== undefined && (preset ?? subscriber) !== undefined) {
    throw new WrongUsage('--from: a preset applies to both directions; leave out --from.');
  }
  const asked = { preset, subscriber, ...(Object.keys(members).length > 0 && { [direction]: members }) };
  const other = direction === 'both' ? {} : found.impairments;
  return {
    ...(impair && { impairments: { ...other, ...asked } }),
    ...(clear && { impairments: from === undefined ? null : { ...other, [direction]: {} } }),
    ...((suspend || resume) && { suspend: suspend === true }),
  };
}

function directionFrom({ nodes: [first, second] }: LinkObject, { node_id, name }: NodeObject): 'forward' | 'backward' {
  if (first?.node_id === node_id) return 'forward';
  if (second?.node_id === node_id) return 'backward';
  throw new WrongUsage(`--from "${name}": the link does not end at this node.`);
}

/** Settings that apply to both directions only. */
const FOR_BOTH = ['preset', 'subscriber'];

/** @throws WrongUsage with the name that was meant, or an example */
function mustBeImpairment(
  word: string,
  { kind, member, text }: { kind: string; member: string | undefined; text: string },
): void {
  const kinds = DirectionImpairments.entries;
  const members = Object.hasOwn(kinds, kind)
    ? Object.keys(kinds[kind as keyof typeof kinds].wrapped.entries)
    : undefined;
  if (members === undefined)
    throw new WrongUsage(
      `--impair ${word}: unknown impairment "${kind}"; ${suggestion(kind, [...FOR_BOTH, ...Object.keys(kinds)])}`,
    );
  // The server checks a whole kind, given as JSON or null.
  if (member === undefined && typeof parsed(text) !== 'object')
    throw new WrongUsage(
      `--impair ${word}: write ${kind}.${members[0]}=${/^\d+(?:\.\d+)?/.exec(text)?.[0] ?? 'NUMBER'} (${kind} has ${members.join(', ')})`,
    );
  if (member !== undefined && !members.includes(member))
    throw new WrongUsage(`--impair ${word}: ${kind} has no "${member}"; ${suggestion(member, members)}`);
  if (member !== undefined) mustBeValue(word, DirectionImpairments.entries[kind as 'delay'].wrapped, member, text);
}

/** @throws WrongUsage with the range of the value */
function mustBeValue(word: string, kind: v.GenericSchema, member: string, text: string): void {
  const { issues = [] } = v.safeParse(kind, { [member]: parsed(text) ?? text });
  const [issue] = issues.filter(({ path }) => path?.[0]?.key === member);
  if (issue === undefined) return;
  const isType = issue.kind === 'schema' && issue.expected === 'number';
  throw new WrongUsage(`--impair ${word}: use ${isType ? 'a number' : issue.message}`);
}

/** @throws WrongUsage with the name that was meant, or the list */
function mustBePreset(word: string, text: string): void {
  const names = PRESETS.map(({ name }) => name);
  if (names.includes(text) || text === 'null') return;
  const meant = nearest(text, names);
  throw new WrongUsage(
    `--impair ${word}: ${meant === undefined ? `use one of ${names.join(', ')}` : `did you mean "${meant}"?`}`,
  );
}

/** `delay.ms=30` and `preset=geo_satellite` as the API has them; the values are the server's to judge. @throws WrongUsage */
function impairmentsOf(given: readonly string[]): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const word of given) {
    const [path, text] = pairOf('--impair', word, 'delay.ms=30');
    const value = parsed(text) ?? text;
    const [kind = '', member, ...deeper] = path.split('.');
    if (deeper.length > 0) throw new WrongUsage(`--impair ${path}: write KIND.MEMBER=VALUE, such as delay.ms=30`);
    if (kind === 'preset') mustBePreset(word, text);
    if (!FOR_BOTH.includes(kind)) mustBeImpairment(word, { kind, member, text });
    const before = body[kind];
    body[kind] =
      member === undefined ? value : { ...(typeof before === 'object' ? before : undefined), [member]: value };
  }
  return body;
}

/** An action on each named link. */
function step(name: 'reset' | 'delete', summary: string, act: (session: Session, path: string) => Promise<unknown>) {
  return verb({
    name,
    words: ['LINK...'],
    summary,
    inLab: true,
    run: async (session, words) => {
      const { nodes, links, path } = await wiring(session);
      const done = name === 'reset' ? 'is reset' : 'deleted';
      for (const found of new Set(words.map((word) => findLink(nodes, links, word)))) {
        const now = (await act(session, `${path}/${found.link_id}`)) as LinkObject | undefined;
        session.tell(`Link between ${endsText(nodes, found)} ${done}.`, found.link_id, now);
      }
    },
  });
}

export const link: Noun = {
  name: 'link',
  summary: 'links between nodes',
  verbs: [
    verb({
      name: 'list',
      summary: 'lists all links of the lab',
      inLab: true,
      run: async (session) => {
        const { nodes, links } = await wiring(session);
        const end = (index: number) => (one: LinkObject) => (one.nodes[index] ? endText(nodes, one.nodes[index]) : '');
        session.show(links, idOf, [
          { heading: 'ONE END', cell: end(0) },
          { heading: 'OTHER END', cell: end(1) },
          { heading: 'STATE', cell: stateOf },
          { heading: 'ID', cell: idOf },
        ]);
      },
    }),
    verb({
      name: 'create',
      words: ['NODE[:PORT]', 'NODE[:PORT]'],
      summary: 'links two nodes at these ports, or the first free ones: PC1 Hub1:e3',
      inLab: true,
      run: async (session, words) => {
        const { nodes, links, path } = await wiring(session);
        const [one, other] = [parseEnd(nodes, words[0]), parseEnd(nodes, words[1])];
        const ports = portsToJoin({ nodes, links }, [one, other]);
        const body: LinkBody = {
          nodes: [one, other].map(({ node: { node_id } }, index) => {
            const { adapter_number, port_number } = ports[index]!;
            return { node_id, adapter_number, port_number };
          }),
        };
        const made = await session.api.post<LinkObject>(path, body);
        session.tell(`Link between ${endsText(nodes, made)} created: ${made.link_id}`, made.link_id, made);
      },
    }),
    verb({
      name: 'update',
      words: ['LINK...'],
      summary: 'changes impairments and suspension of links, named by id or by an end, PC1:e0',
      flags: {
        impair: {
          value: 'NAME=VALUE',
          many: true,
          summary: 'such as preset=geo_satellite or delay.ms=30; replaces all earlier impairments',
        },
        from: { value: 'NODE', summary: 'only the direction from this node' },
        clear: { summary: 'remove all impairments' },
        suspend: { summary: 'suspend the link, as if unplugged' },
        resume: { summary: 'resume a suspended link' },
      },
      inLab: true,
      run: async (session, words, flags) => {
        const contrary = [flags.suspend && flags.resume, flags.clear && flags.impair];
        if (contrary.some(Boolean))
          throw new WrongUsage('--suspend or --resume, --impair or --clear: choose one of two.');
        if ((flags.impair ?? flags.clear ?? flags.suspend ?? flags.resume) === undefined) {
          throw new WrongUsage('Say what to change: --impair NAME=VALUE, --clear, --suspend or --resume');
        }
        const { nodes, links, path } = await wiring(session);
        const found = [...new Set(words.map((word) => findLink(nodes, links, word)))];
        const changes = found.map((one) => [one, changeOf(flags, one, nodes)] as const);
        for (const [one, change] of changes) {
          const changed = await session.api.request('PUT', `${path}/${one.link_id}`, change);
          session.tell(`Link between ${endsText(nodes, one)} is changed.`, one.link_id, changed as LinkObject);
        }
      },
    }),
    step('reset', 'recreates both ends of links; settings stay, a capture continues in a new file', (session, path) =>
      session.api.post(`${path}/reset`),
    ),
    step('delete', 'deletes links, named by id or by one end: PC1 or PC1:e0', (session, path) =>
      session.api.delete(path),
    ),
  ],
};
