// Topology files of the releases 1.x (revisions below 5) as one of revision 5: a form in which nodes have numbers, links join the
// numbers of ports, and labels and drawings are described by colours and fonts. Pure: what has to happen to files is only described.
import { randomUUID } from 'node:crypto';
import { Failure } from '../../failures.ts';
import { isObject, type JsonObject } from '../json.ts';
import { legacyDrawings } from './upgrade-legacy-drawings.ts';
import { type LegacyNode, legacyNode } from './upgrade-legacy-nodes.ts';
import { labelOf } from './upgrade-legacy-style.ts';
import { integer, objects, text, uuidOr } from './upgrade-legacy-values.ts';

const REVISION = 5;

export interface LegacyUpgrade {
  /** Of revision 5. */
  document: JsonObject;
  /** Paths of pictures that drawings show, as the old file has them; for `moveLegacyFiles`. */
  pictures: string[];
}

/** `newId` makes identifiers for what had none. `Failure('conflict')` names what has no counterpart. */
export function upgradeLegacy(old: JsonObject, newId: () => string = randomUUID): LegacyUpgrade {
  const topology = old['topology'];
  if (!isObject(topology)) throw new Failure('conflict', 'topology: is required (an object)');
  if (typeof old['name'] !== 'string') throw new Failure('conflict', 'name: is required (a text)');
  const servers = computesOf(objects(topology['servers']), newId);
  const nodes = new Map<unknown, LegacyNode>();
  for (const node of objects(topology['nodes'])) {
    nodes.set(node['id'], legacyNode(node, servers.ids.get(node['server_id']) ?? 'local', newId));
  }
  const { drawings, pictures } = legacyDrawings(topology, newId);
  return {
    pictures,
    document: {
      type: 'topology',
      revision: REVISION,
      version: String(old['version'] ?? ''),
      project_id: uuidOr(old['project_id'], newId),
      name: old['name'],
      auto_start: old['auto_start'] === true,
      topology: {
        computes: servers.computes,
        nodes: [...nodes.values()].map(({ node }) => node),
        links: objects(topology['links']).flatMap((link) => linkOf(link, nodes, newId)),
        drawings,
      },
    },
  };
}

/** Computes by the number of the server that they were; the local one and the virtual machine have fixed identifiers. */
function computesOf(
  servers: readonly JsonObject[],
  newId: () => string,
): { computes: JsonObject[]; ids: Map<unknown, string> } {
  const computes: JsonObject[] = [];
  const ids = new Map<unknown, string>();
  for (const server of servers) {
    if (server['local'] === true) ids.set(server['id'], 'local');
    else if (server['vm'] === true) ids.set(server['id'], 'vm');
    else {
      const compute_id = newId();
      ids.set(server['id'], compute_id);
      computes.push({
        compute_id,
        name: `Remote ${server['id']}`,
        protocol: server['protocol'] === 'https' ? 'https' : 'http',
        host: text(server['host'], 'localhost'),
        port: integer(server['port'], 3080),
      });
    }
  }
  return { computes, ids };
}

/** None for a link one of whose ends is nowhere. */
function linkOf(link: JsonObject, nodes: ReadonlyMap<unknown, LegacyNode>, newId: () => string): JsonObject[] {
  const ends = ['source', 'destination'].flatMap((end) => {
    const found = nodes.get(link[`${end}_node_id`]);
    const port = found?.ports.get(link[`${end}_port_id`]);
    if (found === undefined || port === undefined) return [];
    const label = labelOf(link[`${end}_node_label`] ?? port.label);
    const { adapter_number, port_number } = port;
    return [{ node_id: found.node['node_id'], adapter_number, port_number, ...(label && { label }) }];
  });
  return ends.length === 2 ? [{ link_id: newId(), nodes: ends }] : [];
}
