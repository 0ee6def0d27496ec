// Assigns the server's error messages to fields. A message names its member: `ram: expected number, received string`.

export interface Placed {
  /** By the path of the field: `ram`, `ports_mapping.0.vlan`. */
  problems: Record<string, string>;
  /** The rest of the message, for no field. */
  rest: string;
}

const BEGINNING = /^Invalid request: /;
/** Each part of a message starts with the path of a member. */
const MEMBER = /^((?:[A-Za-z_]\w*)(?:\.\w+)*): (.+)$/s;

/** Splits a message by these fields. */
export function placed(message: string, names: readonly string[]): Placed {
  const problems: Record<string, string> = {};
  const rest: string[] = [];
  for (const part of message.replace(BEGINNING, '').split(/; (?=[A-Za-z_][\w.]*: )/)) {
    const [, member, text] = MEMBER.exec(part) ?? [];
    const path = member?.replace(/^properties\./, '');
    const name = path?.split('.')[0];
    if (path !== undefined && name !== undefined && names.includes(name)) problems[path] ??= text ?? part;
    else rest.push(part);
  }
  return { problems, rest: rest.join('; ') };
}
