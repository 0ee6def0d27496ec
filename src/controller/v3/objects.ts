// Objects as clients of release 3.0.6 see them, made from those of 2.2.57, and bodies the other way round.
import * as v from 'valibot';
import { findNodeKind } from '../../api/kinds/kinds.ts';
import type { LongerDisk, NewDisk } from '../../api/kinds/qemu.ts';
import { mendAll } from '../../http/v3/lenient.ts';
import { isListOfObjects } from '../computes/answers.ts';
import { defaultSymbols } from '../symbols/catalogue.ts';

type Members = Record<string, unknown>;

/** Types whose console type is null rather than `none`. */
const WITHOUT_CONSOLE: ReadonlySet<unknown> = new Set(['ethernet_hub', 'cloud', 'nat']);

/** Types that can have an auxiliary console. */
const WITH_AUX: ReadonlySet<unknown> = new Set(['qemu', 'docker']);

/** Members of a node that only 3.0.6 has, and what they are here. */
function consolesOf(node: Members): Members {
  const properties = (node['properties'] ?? {}) as Members;
  const type = node['console_type'];
  const hasAux = properties['aux'] != null;
  return {
    console_type: type === 'none' && WITHOUT_CONSOLE.has(node['node_type']) ? null : (type ?? null),
    aux: properties['aux'] ?? null,
    aux_type: WITH_AUX.has(node['node_type']) ? (properties['aux_type'] ?? (hasAux ? 'telnet' : 'none')) : null,
  };
}

function propertiesOf(node: Members): Members {
  const {
    aux: _aux,
    aux_type: _type,
    legacy_networking: _legacy,
    save_vm_state: _save,
    ...given
  } = (node['properties'] ?? {}) as Members;
  const properties: Members = { ...given, compute_id: node['compute_id'], usage: given['usage'] ?? '' };
  if (node['node_type'] === 'vpcs') {
    properties['usage'] = given['usage'] ?? null;
    delete properties['startup_script'];
    delete properties['startup_script_path'];
  }
  if (node['node_type'] === 'qemu') {
    properties['maxcpus'] ??= given['cpus'] ?? 1;
    properties['linked_clone'] ??= true;
    for (const drive of ['hda', 'hdb', 'hdc', 'hdd']) properties[`${drive}_disk_image_backed`] ??= null;
  }
  return node['node_type'] === 'ethernet_switch' ? ethertypes(properties) : properties;
}

/** Ports of Ethernet switches always have one. */
export function ethertypes(members: Members): Members {
  const ports = members['ports_mapping'];
  // Some events come from computes and may have any form.
  if (!isListOfObjects(ports) || !ports.some((port) => 'vlan' in port)) return members;
  return {
    ...members,
    ports_mapping: ports.map((port) => ({ ...port, ethertype: port['ethertype'] || '0x8100' })),
  };
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
    ...(node['node_type'] === 'cloud' && { node_directory: null }),
    label: labelOf(node['label']),
    properties: propertiesOf(node),
    ...(isListOfObjects(ports) && {
      ports: ports.map((port) => ({ adapter_type: null, mac_address: null, ...port })),
    }),
  };
}

/** Members of `properties` that the type does not have would be refused by its compute, as would texts for numbers. */
function knownProperties(type: unknown, given: Members): Members {
  const { compute_id: _compute, ...properties } = given;
  const known = findNodeKind(String(type))?.properties;
  if (known === undefined) return properties;
  const kept = Object.fromEntries(Object.entries(properties).filter(([name]) => Object.hasOwn(known, name)));
  const schemas = Object.keys(kept).flatMap((name) => {
    const schema = known[name]?.create ?? known[name]?.update;
    return schema === undefined ? [] : [[name, schema] as const];
  });
  mendAll(v.object(Object.fromEntries(schemas)), kept);
  return kept;
}

/** Members of a node that no body of release 3.0.6 has. */
const READ_ONLY: ReadonlySet<string> = new Set([
  ...['project_id', 'template_id', 'status', 'ports', 'width', 'height'],
  ...['console_host', 'node_directory', 'command_line'],
]);

export function nodeV2(sent: Members, type: unknown = sent['node_type']): Members {
  const { aux, aux_type: _auxType, console_type: consoleType, properties, ...node } = sent;
  const hasAux = aux != null && Object.hasOwn(findNodeKind(String(type))?.properties ?? {}, 'aux');
  return {
    ...Object.fromEntries(Object.entries(node).filter(([name]) => !READ_ONLY.has(name))),
    ...(consoleType != null && { console_type: consoleType }),
    ...((hasAux || (typeof properties === 'object' && properties !== null)) && {
      properties: { ...knownProperties(type, Object(properties) as Members), ...(hasAux && { aux }) },
    }),
  };
}

/** The members of a disk that Labwire has; release 3.0.6 spells one format `vdmk`. */
export const diskV2 =
  (schema: typeof NewDisk | typeof LongerDisk) =>
  (sent: Members): Members =>
    Object.fromEntries(
      Object.entries(sent)
        .filter(([member, value]) => member in schema.entries && value !== null)
        .map(([member, value]) => [member, value === 'vdmk' ? 'vmdk' : value]),
    );

export function linkV3(link: Members): Members {
  const nodes = link['nodes'];
  return {
    ...link,
    link_style: link['link_style'] ?? {},
    ...(isListOfObjects(nodes) && { nodes: nodes.map((end) => ({ ...end, label: labelOf(end['label']) })) }),
  };
}

/** ISO 8601 without a zone, in whole seconds of UTC. */
export function timeV3(time: Date): string {
  return time.toISOString().slice(0, 19);
}

/** What answers to a POST have in the members that only events tell. */
const UNKNOWN = {
  connected: null,
  cpu_usage_percent: null,
  memory_usage_percent: null,
  disk_usage_percent: null,
  last_error: null,
  capabilities: null,
};

export function newComputeV3(compute: Members): Members {
  return { ...computeV3(compute), ...UNKNOWN };
}

export function computeEventV3(compute: Members): Members {
  return { disk_usage_percent: null, ...compute, ...computeV3(compute) };
}

/** A link as answers to a POST have it. */
export function newLinkV3(link: Members): Members {
  return linkV3({ ...link, link_style: { color: null, width: null, type: null, ...(link['link_style'] as object) } });
}

export function computeV3(compute: Members): Members {
  const started = timeV3(STARTED);
  const kept = Object.fromEntries(Object.entries(compute).filter(([name]) => !Object.hasOwn(UNKNOWN, name)));
  return { ...kept, password: '**********', created_at: started, updated_at: started };
}

/** What is not known of an object is as old as this process. */
const STARTED = new Date();

/** An event's payload. */
export function eventV3(action: string, event: object, templateV3: (template: Members) => Members): object {
  const members = event as Members;
  if (action.startsWith('node.')) return nodeV3(members);
  if (action.startsWith('link.')) return linkV3(members);
  if (action.startsWith('compute.')) return computeEventV3(members);
  if (action.startsWith('template.')) return templateV3(members);
  return event;
}

/** The theme of templates that name no symbol. */
const THEME = 'Affinity-square-blue';

/** Themes with the names of 3.0.6. */
export function symbolsV3(
  themes: Readonly<Record<string, Readonly<Record<string, string>>>>,
): Record<string, Record<string, string | undefined>> {
  return Object.fromEntries(
    Object.entries(themes).map(([name, { ethernet_hub: hub, ...theme }]) => [name, { ...theme, hub }]),
  );
}

/** A new template with the symbol of its type, unless it names one. */
export function withSymbol(template: Members): Members {
  if (template['symbol'] != null) return template;
  const name = findNodeKind(String(template['template_type']))?.template.symbol;
  const symbol = name === undefined ? undefined : symbolsV3(defaultSymbols())[THEME]?.[name];
  return symbol === undefined ? template : { ...template, symbol };
}
