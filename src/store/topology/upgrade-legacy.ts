// Converts topology files of releases 1.x (revisions below 5) to revision 5. In the old form nodes have numbers, links
// join port numbers, and labels and drawings have colours and fonts. Pure: changes of files are only described.
import { randomUUID } from 'node:crypto';
import { conflict } from '../../failures.ts';
import { isObject, type JsonObject } from '../json.ts';
import { legacyDrawings } from './upgrade-legacy-drawings.ts';
import { type LegacyNode, legacyNode } from './upgrade-legacy-nodes.ts';
import { labelOf } from './upgrade-legacy-style.ts';
import { integer, objects, text, uuidOr } from './upgrade-legacy-values.ts';

const REVISION = 5;

export interface LegacyUpgrade {
  /** In revision 5. */
  document: JsonObject;
  /** Paths of the drawings' pictures as in the old file; for `moveLegacyFiles`. */
  pictures: string[];
}

/** `newId` makes ids for objects without one. `Failure('conflict')` names objects without a counterpart. */
export function upgradeLegacy(old: JsonObject, newId: () => string = randomUUID): LegacyUpgrade {
  const topology = old['topology'];
  if (!isObject(topology)) throw conflict('topology: is required (an object)');
  if (typeof old['name'] !== 'string') throw conflict('name: is required (a text)');
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

/** Computes by their server's number; the local one and the virtual machine have fixed ids. */
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

/** Empty for a link with an unknown end. */
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
