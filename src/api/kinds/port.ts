// One port of a node, and the kinds of interfaces that there are.

export interface Port {
  name: string;
  short_name: string;
  adapter_number: number;
  port_number: number;
  link_type: 'ethernet' | 'serial';
  /** Label -> DLT name, as used for captures. */
  data_link_types: Record<string, string>;
  adapter_type?: string | null;
  mac_address?: string | null;
}

/** Kinds of interfaces: the long word, the letter of the short name, and how their links are captured. */
export const KINDS = {
  Ethernet: { letter: 'e', link_type: 'ethernet', data_link_types: { Ethernet: 'DLT_EN10MB' } },
  FastEthernet: { letter: 'f', link_type: 'ethernet', data_link_types: { Ethernet: 'DLT_EN10MB' } },
  GigabitEthernet: { letter: 'g', link_type: 'ethernet', data_link_types: { Ethernet: 'DLT_EN10MB' } },
  Serial: {
    letter: 's',
    link_type: 'serial',
    data_link_types: { 'Frame Relay': 'DLT_FRELAY', 'Cisco HDLC': 'DLT_C_HDLC', 'Cisco PPP': 'DLT_PPP_SERIAL' },
  },
  ATM: { letter: 'a', link_type: 'serial', data_link_types: { ATM: 'DLT_ATM_RFC1483' } },
  FrameRelay: { letter: '', link_type: 'serial', data_link_types: { 'Frame Relay': 'DLT_FRELAY' } },
  POS: { letter: 'p', link_type: 'serial', data_link_types: {} },
} as const;

export type Kind = keyof typeof KINDS;

/** A port of a kind; the short name follows from the name unless given. */
export function port(
  kind: Kind,
  place: { name: string; adapter: number; port: number; short?: string | undefined },
  more: { adapter_type?: string | null; mac_address?: string | null } = {},
): Port {
  const { link_type, data_link_types } = KINDS[kind];
  return {
    name: place.name,
    short_name: place.short ?? shortName(kind, place.name),
    adapter_number: place.adapter,
    port_number: place.port,
    link_type,
    data_link_types: { ...data_link_types },
    ...more,
  };
}

/** `Ethernet1/0` -> `e1/0`, `Serial2` -> `s2`; names of other forms stay. */
function shortName(kind: Kind, name: string): string {
  const { letter } = KINDS[kind];
  if (letter === '') return name;
  if (name.includes('/')) return name.replace(kind, letter);
  const number = new RegExp(`^${kind}(\\d+)`).exec(name)?.[1];
  return number === undefined ? name : `${letter}${number}`;
}
