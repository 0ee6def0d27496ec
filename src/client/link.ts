// `labwired link`: the cables between nodes.
import type { LinkBody } from '../controller/links/schema.ts';
import { type Noun, verb } from './command.ts';
import { endText, findLink, parseEnd, portsToJoin } from './link-ends.ts';
import type { LabObject, LinkObject, NodeObject } from './objects.ts';
import type { Session } from './session.ts';

const idOf = ({ link_id }: LinkObject): string => link_id;

export interface Wiring {
  lab: LabObject;
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

function stateOf({ capturing, suspend }: LinkObject): string {
  return [capturing && 'captured', suspend && 'suspended'].filter(Boolean).join(', ');
}

export const link: Noun = {
  name: 'link',
  summary: 'the cables between nodes',
  verbs: [
    verb({
      name: 'list',
      words: [],
      summary: 'all links of the lab',
      flags: {},
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
      summary: 'joins two ports, or the first free ones: PC1 Hub1:e3',
      flags: {},
      inLab: true,
      run: async (session, words) => {
        const { nodes, links, path } = await wiring(session);
        const [one, other] = [parseEnd(nodes, words[0]!), parseEnd(nodes, words[1]!)];
        const ports = portsToJoin(links, [one, other]);
        const body: LinkBody = {
          nodes: [one, other].map(({ node: { node_id } }, index) => {
            const { adapter_number, port_number } = ports[index]!;
            return { node_id, adapter_number, port_number };
          }),
        };
        const made = await session.api.post<LinkObject>(path, body);
        const ends = made.nodes.map((end) => endText(nodes, end)).join(' and ');
        session.tell(`Link between ${ends} created: ${made.link_id}`, made.link_id, made);
      },
    }),
    verb({
      name: 'delete',
      words: ['LINK...'],
      summary: 'by id, or by one end: PC1 or PC1:e0',
      flags: {},
      inLab: true,
      run: async (session, words) => {
        const { nodes, links, path } = await wiring(session);
        for (const found of new Set(words.map((word) => findLink(nodes, links, word)))) {
          await session.api.delete(`${path}/${found.link_id}`);
          const ends = found.nodes.map((end) => endText(nodes, end)).join(' and ');
          session.tell(`Link between ${ends} deleted.`, found.link_id);
        }
      },
    }),
  ],
};
