// Makes a request for a node from a template (as in release 2.2.57).
import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import type { Template, TemplateUsage } from '../../api/routes/templates.ts';
import { AnyObject, type CustomAdapter } from '../../api/vocabulary.ts';
import { notFound } from '../../failures.ts';

/** Template members that become members of the node; all others become properties. */
interface NodeAttributes {
  symbol: string;
  console_type?: string;
  console_auto_start?: boolean;
  port_name_format?: string;
  port_segment_size?: number;
  first_port_name?: string;
  custom_adapters?: CustomAdapter[];
}

/** A node to create; its name still has a placeholder for a number. */
export interface NodeRequest extends NodeAttributes {
  node_id: string;
  node_type: string;
  name: string;
  compute_id: string;
  template_id: string;
  x: number;
  y: number;
  properties: Record<string, unknown>;
}

const ATTRIBUTES: readonly string[] = [
  'symbol',
  'console_type',
  'console_auto_start',
  'port_name_format',
  'port_segment_size',
  'first_port_name',
  'custom_adapters',
] satisfies (keyof NodeAttributes)[];

/** Members of the template itself, which its nodes do not get. */
const OWN: readonly string[] = [
  'template_id',
  'template_type',
  'name',
  'compute_id',
  'default_name_format',
  'category',
  'builtin',
  'properties',
];

/**
 * The node, with a new id, of `template` at the position in `usage`.
 * @param otherwise its compute, if there is none by these
 * @throws Failure `not-found` if neither names a compute
 */
export function nodeRequest(template: Template, usage: TemplateUsage, otherwise?: string): NodeRequest {
  // A user's template includes the compute: the request cannot override it.
  const compute = (template.builtin ? usage.compute_id : template.compute_id) ?? otherwise;
  if (compute == null) {
    throw notFound(
      template.builtin
        ? 'compute_id: a built-in template belongs to no compute; name the one to make the node on, such as "local"'
        : `compute_id: the template ${template.name} has none; create it again with the compute of its nodes`,
    );
  }
  const attributes: Record<string, unknown> = {};
  const properties: Record<string, unknown> = v.is(AnyObject, template['properties'])
    ? { ...template['properties'] }
    : {};
  for (const [member, value] of Object.entries(template)) {
    if (OWN.includes(member)) continue;
    if (ATTRIBUTES.includes(member)) attributes[member] = value;
    else if (value !== null && value !== '') properties[member] = value;
  }
  return {
    ...(attributes as unknown as NodeAttributes),
    node_id: randomUUID(),
    node_type: template.template_type,
    name: usage.name ?? template.default_name_format.replaceAll('{name}', template.name),
    compute_id: compute,
    template_id: template.template_id,
    x: usage.x,
    y: usage.y,
    properties,
  };
}
