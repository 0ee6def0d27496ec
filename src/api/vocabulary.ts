// Shared schemas: identifiers, node types, labels, project variables.
import * as v from 'valibot';
import { invalid } from '../failures.ts';

/** 36 characters, hexadecimal 8-4-4-4-12, any version. */
export const Uuid = v.pipe(
  v.string(),
  v.regex(/^[a-fA-F0-9]{8}-[a-fA-F0-9]{4}-[a-fA-F0-9]{4}-[a-fA-F0-9]{4}-[a-fA-F0-9]{12}$/, 'must be a UUID'),
);

export const Integer = v.pipe(v.number(), v.safeInteger('a whole number below 2^53'));

/** ISO 8601, UTC. */
export const Timestamp = v.pipe(v.string(), v.isoTimestamp());

/** An object in answers, which documents describe once under this name. */
export function named<const Entries extends v.ObjectEntries>(name: string, entries: Entries) {
  return v.pipe(v.object(entries), v.title(name));
}

/** A text of at least one character. */
export const Text = v.pipe(v.string(), v.minLength(1));

const NAME_RULE = 'a name without control characters';

/** A name that a client gives. Signs that no font shows would act on the terminals and pages of others. */
export const Name = v.pipe(
  Text,
  v.check((text) => !/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u.test(text), NAME_RULE),
);

/** @throws Failure `invalid` for a text that is no `Name` */
export function requireName(text: string): void {
  if (!v.is(Name, text)) throw invalid(`name: expected ${NAME_RULE}.`);
}

export const NODE_TYPES = [
  'cloud',
  'nat',
  'ethernet_hub',
  'ethernet_switch',
  'frame_relay_switch',
  'atm_switch',
  'docker',
  'dynamips',
  'vpcs',
  'traceng',
  'virtualbox',
  'vmware',
  'iou',
  'qemu',
] as const;

export const NodeType = v.picklist(NODE_TYPES);
export type NodeType = v.InferOutput<typeof NodeType>;

export const NodeStatus = v.picklist(['started', 'stopped', 'suspended']);
export type NodeStatus = v.InferOutput<typeof NodeStatus>;

export const ConsoleType = v.picklist(['vnc', 'telnet', 'http', 'https', 'spice', 'spice+agent', 'none']);

export const ConsolePort = v.pipe(Integer, v.minValue(1), v.maxValue(65535));

/** Degrees. */
export const Rotation = v.pipe(Integer, v.minValue(-359), v.maxValue(360));

/** A text beside a node or an end of a link; `x: null` asks the client to centre it. */
export const Label = v.strictObject({
  text: v.string(),
  style: v.optional(v.nullable(v.string())),
  x: v.optional(v.nullable(Integer)),
  y: v.optional(Integer),
  rotation: v.optional(Rotation),
});
export type Label = v.InferOutput<typeof Label>;

export const CustomAdapter = v.strictObject({
  adapter_number: Integer,
  port_name: v.optional(Text),
  adapter_type: v.optional(Text),
  mac_address: v.optional(
    v.pipe(v.string(), v.regex(/^([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}$/, 'must be a MAC address xx:xx:xx:xx:xx:xx')),
  ),
});
export type CustomAdapter = v.InferOutput<typeof CustomAdapter>;

/** An object with unknown members. */
export const AnyObject = v.pipe(
  v.custom<Record<string, unknown>>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    'an object',
  ),
);

export const Variables = v.nullable(v.array(v.looseObject({ name: Text, value: v.optional(v.string()) })));
export type Variables = v.InferOutput<typeof Variables>;

export const Supplier = v.nullable(v.looseObject({ logo: v.optional(v.string()), url: v.optional(v.string()) }));
export type Supplier = v.InferOutput<typeof Supplier>;
