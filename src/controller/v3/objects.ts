// Objects as clients of release 3.0.6 see them, made from those of 2.2.57, and bodies the other way round.
import { findNodeKind } from '../../api/kinds/kinds.ts';

type Members = Record<string, unknown>;

/** Types whose console type is null rather than `none`. */
const WITHOUT_CONSOLE: ReadonlySet<unknown> = new Set(['ethernet_hub', 'cloud', 'nat']);

/** Members of a node that only 3.0.6 has, and what they are here. */
function consolesOf(node: Members): Members {
  const properties = (node['properties'] ?? {}) as Members;
  const type = node['console_type'];
  return {
    console_type: type === 'none' && WITHOUT_CONSOLE.has(node['node_type']) ? null : (type ?? null),
    aux: properties['aux'] ?? null,
    aux_type: properties['aux_type'] ?? null,
  };
}

function propertiesOf(node: Members): Members {
  const { aux: _aux, aux_type: _type, legacy_networking: _legacy, save_vm_state: _save, ...given } = (node['properties'] ??
    {}) as Members;
  const properties: Members = { ...given, compute_id: node['compute_id'], usage: given['usage'] ?? '' };
  if (node['node_type'] === 'vpcs') {
    properties['usage'] = given['usage'] ?? null;
    delete properties['startup_script'];
    delete properties['startup_script_path'];
  }
  if (node['node_type'] === 'qemu') properties['maxcpus'] ??= given['cpus'] ?? 1;
  const ports = given['ports_mapping'];
  if (node['node_type'] === 'ethernet_switch' && Array.isArray(ports))
    properties['ports_mapping'] = ports.map((port: Members) => ({ ...port, ethertype: port['ethertype'] || '0x8100' }));
  return properties;
}

function labelOf(label: unknown): unknown {
  if (typeof label !== 'object' || label === null) return label;
  return { rotation: null, style: null, text: null, x: null, y: null, ...label };
}

export function nodeV3(node: Members): Members {
  const ports = node['ports'];
  return {
    ...node,
    ...consolesOf(node),
    label: labelOf(node['label']),
    properties: propertiesOf(node),
    ...(Array.isArray(ports) && {
      ports: ports.map((port: Members) => ({ adapter_type: null, mac_address: null, ...port })),
    }),
  };
}

/** Members of `properties` that the type does not have would be refused. */
function knownProperties(type: unknown, given: Members): Members {
  const { compute_id: _compute, ...properties } = given;
  const known = findNodeKind(String(type))?.properties;
  if (known === undefined) return properties;
  return Object.fromEntries(Object.entries(properties).filter(([name]) => Object.hasOwn(known, name)));
}

export function nodeV2(sent: Members, type: unknown = sent['node_type']): Members {
  const { aux, aux_type: _auxType, console_type: consoleType, properties, ...node } = sent;
  const given = typeof properties === 'object' && properties !== null ? { ...(properties as Members) } : undefined;
  const isDynamips = type === 'dynamips';
  return {
    ...node,
    ...(consoleType != null && { console_type: consoleType }),
    ...(given && {
      properties: {
        ...knownProperties(type, given),
        ...(isDynamips && aux != null && { aux }),
      },
    }),
  };
}

export function linkV3(link: Members): Members {
  const nodes = link['nodes'];
  return {
    ...link,
    link_style: link['link_style'] ?? {},
    ...(Array.isArray(nodes) && { nodes: nodes.map((end: Members) => ({ ...end, label: labelOf(end['label']) })) }),
  };
}

/** ISO 8601 without a zone, in whole seconds of UTC. */
export function timeV3(time: Date): string {
  return time.toISOString().slice(0, 19);
}

export function computeV3(compute: Members): Members {
  const started = timeV3(STARTED);
  const { connected: _c, cpu_usage_percent: _p, memory_usage_percent: _m, capabilities: _k, last_error: _l, ...kept } = compute;
  return { ...kept, password: '**********', created_at: started, updated_at: started };
}

/** What is not known of an object is as old as this process. */
const STARTED = new Date();
