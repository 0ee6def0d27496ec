// Bodies of clouds (schemas CloudCreate, CloudUpdate of release 2.2.57).
import * as v from 'valibot';
import { ConsolePort, Text, Uuid } from '../../../store/vocabulary.ts';
import { UplinkPortsMapping } from '../../uplinks/ports-mapping.ts';

/** As a cloud tells of the interfaces of its host. A client may send the list back; it changes nothing. */
const Interfaces = v.array(v.strictObject({ name: Text, type: v.picklist(['ethernet', 'tap']), special: v.boolean() }));

const members = {
  remote_console_host: v.optional(v.string()),
  remote_console_port: v.optional(v.nullable(ConsolePort)),
  remote_console_type: v.optional(v.picklist(['telnet', 'vnc', 'spice', 'http', 'https', 'none'])),
  remote_console_http_path: v.optional(v.string()),
  ports_mapping: v.optional(UplinkPortsMapping),
  interfaces: v.optional(Interfaces),
};

export const CloudCreate = v.strictObject({ name: Text, node_id: v.optional(Uuid), ...members });

/** Identifiers, directory and status may be sent along; they change nothing. */
export const CloudUpdate = v.strictObject({
  name: v.optional(Text),
  node_id: v.optional(Uuid),
  project_id: v.optional(Uuid),
  ...members,
  node_directory: v.optional(v.string()),
  status: v.optional(v.picklist(['started', 'stopped', 'suspended'])),
});

export type CloudCreate = v.InferOutput<typeof CloudCreate>;
export type CloudUpdate = v.InferOutput<typeof CloudUpdate>;
