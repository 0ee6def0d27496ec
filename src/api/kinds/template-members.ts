// The members that templates of several kinds share.
import * as v from 'valibot';
import { Integer, NodeType, Text, Uuid } from '../vocabulary.ts';
import { ofTemplate, p } from './property.ts';

/** Position is the number by which old clients name the category. */
export const CATEGORIES = ['router', 'switch', 'guest', 'firewall'] as const;
export type Category = (typeof CATEGORIES)[number];

export const AnyCategory = v.union([
  v.picklist(CATEGORIES),
  v.pipe(
    Integer,
    v.minValue(0),
    v.maxValue(CATEGORIES.length - 1),
    v.transform((number) => CATEGORIES[number]!),
  ),
]);

export const flag = (byDefault: boolean) => v.optional(v.boolean(), byDefault);
export const text = (byDefault = '') => v.optional(v.string(), byDefault);
export const integer = (byDefault: number) => v.optional(Integer, byDefault);
export const between = (lowest: number, highest: number) => v.pipe(Integer, v.minValue(lowest), v.maxValue(highest));

/** Identity, looks and place of a template, with the defaults of its kind. */
export function commonMembers(nameFormat: string, symbol: string, category: Category) {
  return {
    template_id: Uuid,
    template_type: NodeType,
    name: Text,
    compute_id: v.nullable(v.string()),
    builtin: v.boolean(),
    default_name_format: v.optional(Text, nameFormat),
    symbol: v.optional(Text, `:/symbols/${symbol}.svg`),
    category: v.optional(AnyCategory, category),
  };
}

const portNameMembers = {
  first_port_name: text(),
  port_name_format: text('Ethernet{0}'),
  port_segment_size: integer(0),
};

/** The same as rows. */
export const portNameRows = {
  first_port_name: ofTemplate(portNameMembers.first_port_name),
  port_name_format: ofTemplate(portNameMembers.port_name_format),
  port_segment_size: ofTemplate(portNameMembers.port_segment_size),
};

const mtu = between(576, 65_521);
/** Absent at its default. */
export const absentFlag = p(v.boolean(), { template: v.optional(v.boolean()) });

/** Of the interfaces of containers and guests. */
export const interfaceSettings = { mtu: p(mtu, { template: v.optional(mtu) }), offload: absentFlag };

export const onClose = v.optional(v.picklist(['power_off', 'shutdown_signal', 'save_vm_state']), 'power_off');
export const macAddress = v.optional(
  v.nullable(v.pipe(v.string(), v.regex(/^(([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2})?$/, 'a MAC address xx:xx:xx:xx:xx:xx'))),
  '',
);

export const mappedPort = { name: Text, port_number: v.pipe(Integer, v.minValue(0)) };

/** An array of which only the first element is validated, as in the release; the compute validates the rest. */
export function positional(first: v.GenericSchema): v.GenericSchema<unknown[], unknown[]> {
  return v.lazy((value) => (Array.isArray(value) && value.length === 0 ? v.tuple([]) : v.looseTuple([first])));
}

/** The default eight ports of hubs and switches. */
export function eightPorts<More extends object>(more: More) {
  return Array.from({ length: 8 }, (_, index) => ({ port_number: index, name: `Ethernet${index}`, ...more }));
}
