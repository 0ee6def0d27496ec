import * as v from 'valibot';
import { ConsolePort, Integer, Text, Uuid } from '../../../store/vocabulary.ts';

const ConsoleType = v.picklist(['telnet', 'none']);

export type VpcsConsoleType = v.InferOutput<typeof ConsoleType>;

export const VpcsCreate = v.strictObject({
  name: Text,
  // Releases before 1.4 numbered their nodes; such a node gets a new identifier.
  node_id: v.optional(
    v.union([
      Uuid,
      v.pipe(
        Integer,
        v.transform(() => undefined),
      ),
    ]),
  ),
  console: v.optional(v.nullable(ConsolePort)),
  console_type: v.optional(ConsoleType, 'telnet'),
  startup_script: v.optional(v.nullable(v.string())),
});

export type VpcsCreate = v.InferOutput<typeof VpcsCreate>;

export const VpcsUpdate = v.strictObject({
  name: v.optional(v.nullable(Text)),
  console: v.optional(v.nullable(ConsolePort)),
  console_type: v.optional(ConsoleType),
});

export type VpcsUpdate = v.InferOutput<typeof VpcsUpdate>;
