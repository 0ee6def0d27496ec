// Converts other revisions of the topology file, step by step. Pure functions: changes of files are only described.
import { LAST_REVISION, REVISION } from '../../api/topology.ts';
import { conflict } from '../../failures.ts';
import { isObject, type JsonObject } from '../json.ts';
import { from10to9, type UpgradeOptions } from './revision-10.ts';
import { upgradeLegacy } from './upgrade-legacy.ts';

/** The first revision of releases 2.0 and later; older ones have an entirely different form. */
const OLDEST = 5;

/** Files of one dynamips node in the shared folder, which was used up to revision 6. */
export interface DynamipsFiles {
  nodeId: string;
  dynamipsId: number;
}

export interface Upgraded {
  document: JsonObject;
  /** The document's former revision; equal to REVISION if nothing was done. */
  from: number;
  /** For `moveDynamipsFiles`. */
  moves: DynamipsFiles[];
  /** Paths of pictures in a file of 1.x; for `moveLegacyFiles`. */
  pictures?: string[];
}

/**
 * Converts a document to revision 9. `Failure('conflict')` for a revision above 10, and for objects without a
 * counterpart.
 */
export function upgradeTopology(document: JsonObject, options: UpgradeOptions = {}): Upgraded {
  const from = document['revision'] ?? 0;
  if (typeof from !== 'number' || !Number.isSafeInteger(from) || from < 0) {
    throw conflict(`revision: expected an integer from 0 to ${LAST_REVISION}`);
  }
  if (from > LAST_REVISION) {
    throw conflict(
      `revision: ${from} is of a later release than the last known one, ${LAST_REVISION}; open the lab with that release`,
    );
  }
  const legacy = from < OLDEST ? upgradeLegacy(document) : undefined;
  const known = legacy?.document ?? document;
  const steps = [from5to6, undefined, from7to8, from8to9];
  let upgraded = from > REVISION ? from10to9(known, options) : known;
  for (const step of steps.slice(Math.max(0, from - OLDEST))) if (step !== undefined) upgraded = step(upgraded);
  return {
    document: cleanUp({ ...upgraded, revision: REVISION }),
    from,
    // Revision 7 gave each dynamips node a folder of its own; the document itself stayed the same.
    moves: from < 7 ? nodesOf(known).flatMap(dynamipsFilesOf) : [],
    ...(legacy && { pictures: legacy.pictures }),
  };
}

function from5to6(document: JsonObject): JsonObject {
  return mapNodes(document, (node) => {
    const upgraded = node['console_type'] === 'serial' ? { ...node, console_type: 'telnet' } : node;
    return isOf(node, 'vmware', 'virtualbox') ? withoutProperties(upgraded, 'enable_remote_console') : upgraded;
  });
}

function from7to8(document: JsonObject): JsonObject {
  return mapNodes(document, (node) => {
    if (isOf(node, 'vpcs')) return withoutProperties(node, 'startup_script_path', 'startup_script');
    if (!isOf(node, 'dynamips', 'iou')) return node;
    return withoutProperties(
      node,
      'startup_config',
      'private_config',
      'startup_config_content',
      'private_config_content',
    );
  });
}

function from8to9(document: JsonObject): JsonObject {
  const upgraded = mapNodes(document, (node) => {
    const properties = node['properties'];
    if (!isOf(node, 'qemu', 'vmware', 'virtualbox') || !isObject(properties)) return node;
    const shutdown = properties['acpi_shutdown'];
    const rest = withoutProperties(node, 'acpi_shutdown', 'save_vm_state');
    if (shutdown === undefined) return rest;
    return {
      ...rest,
      properties: { ...(rest['properties'] as JsonObject), on_close: shutdown ? 'save_vm_state' : 'power_off' },
    };
  });
  return 'grid_size' in upgraded ? { ...upgraded, drawing_grid_size: upgraded['grid_size'] } : upgraded;
}

/** Cleans up files of revision 9 from earlier 2.2 releases. */
function cleanUp(document: JsonObject): JsonObject {
  const cleaned = mapNodes(document, (node) => {
    const { appliance_id: templateId, ...rest } = node;
    const renamed = templateId === undefined ? node : { template_id: templateId, ...rest };
    return renamed['console_type'] === null ? { ...renamed, console_type: 'none' } : renamed;
  });
  const variables = cleaned['variables'];
  if (!Array.isArray(variables)) return cleaned;
  return { ...cleaned, variables: variables.filter((variable) => !isObject(variable) || variable['name']) };
}

function dynamipsFilesOf(node: JsonObject): DynamipsFiles[] {
  const properties = node['properties'];
  const dynamipsId = isObject(properties) ? properties['dynamips_id'] : undefined;
  const nodeId = node['node_id'];
  return isOf(node, 'dynamips') && typeof nodeId === 'string' && typeof dynamipsId === 'number'
    ? [{ nodeId, dynamipsId }]
    : [];
}

/** The nodes that are objects; malformed parts are left for the schema to report. */
function nodesOf(document: JsonObject): JsonObject[] {
  const topology = document['topology'];
  const nodes = isObject(topology) ? topology['nodes'] : undefined;
  return Array.isArray(nodes) ? nodes.filter(isObject) : [];
}

function mapNodes(document: JsonObject, change: (node: JsonObject) => JsonObject): JsonObject {
  const topology = document['topology'];
  if (!isObject(topology) || !Array.isArray(topology['nodes'])) return document;
  const nodes = topology['nodes'].map((node: unknown) => (isObject(node) ? change(node) : node));
  return { ...document, topology: { ...topology, nodes } };
}

function isOf(node: JsonObject, ...types: string[]): boolean {
  return types.includes(String(node['node_type']));
}

function withoutProperties(node: JsonObject, ...names: string[]): JsonObject {
  const properties = node['properties'];
  if (!isObject(properties)) return node;
  const kept = Object.entries(properties).filter(([name]) => !names.includes(name));
  return { ...node, properties: Object.fromEntries(kept) };
}
