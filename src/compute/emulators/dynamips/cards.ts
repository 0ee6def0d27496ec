// The cards of routers: how many ports each has, and which slot takes it (facts of release 2.2.57).
import type { Platform } from './platforms.ts';
import { refusal } from './platforms.ts';

/** Cards and boards, and how many ports they have. */
const PORTS: Readonly<Record<string, number>> = {
  'C7200-IO-FE': 1,
  'C7200-IO-2FE': 2,
  'C7200-IO-GE-E': 1,
  'PA-FE-TX': 1,
  'PA-2FE-TX': 2,
  'PA-GE': 1,
  'PA-4E': 4,
  'PA-8E': 8,
  'PA-4T+': 4,
  'PA-8T': 8,
  'PA-A1': 1,
  'PA-POS-OC3': 1,
  'NM-1E': 1,
  'NM-4E': 4,
  'NM-1FE-TX': 1,
  'NM-4T': 4,
  'NM-16ESW': 16,
  'GT96100-FE': 2,
  'Leopard-2FE': 2,
  'C2600-MB-1E': 1,
  'C2600-MB-2E': 2,
  'C2600-MB-1FE': 1,
  'C2600-MB-2FE': 2,
  'C1700-MB-1FE': 1,
  'C1700-MB-WIC1': 0,
};

/** WAN interface cards. The emulator gives the one for Ethernet two ports. */
const WIC_PORTS: Readonly<Record<string, number>> = { 'WIC-1T': 1, 'WIC-2T': 2, 'WIC-1ENET': 2 };

/** Ports of the WIC at place `w` have the numbers from 16 x (w + 1) on, in slot 0. */
export const WIC_PORT_BASE = 16;

/** Whether this is the name of a card that a user may put into a slot; boards that are built in are not. */
export function isCard(name: string): boolean {
  return /^(C7200-IO|PA|NM)-/.test(name) && name in PORTS;
}

export function isWic(name: string): boolean {
  return name in WIC_PORTS;
}

/** @throws Failure `conflict` (`DynamipsError`) for a card that does not fit into the slot */
export function mustFit(platform: Platform, chassis: string, slot: number, card: string): void {
  if (fits(platform, chassis, slot, card)) return;
  throw refusal(`slot${slot}: a ${platform.name} ${chassis} does not take ${card} there.`.replace('  ', ' '));
}

/** @throws Failure `conflict` (`DynamipsError`) for a WIC that the platform does not take */
export function mustFitWic(platform: Platform, place: number, wic: string): void {
  if (wic !== 'WIC-1ENET' || platform.name === 'c1700') return;
  throw refusal(`wic${place}: a ${platform.name} does not take ${wic}; use WIC-1T or WIC-2T.`);
}

function fits({ name }: Platform, chassis: string, slot: number, card: string): boolean {
  switch (name) {
    case 'c7200':
      return slot === 0 ? card.startsWith('C7200-IO-') : card.startsWith('PA-');
    case 'c3600':
      return card.startsWith('NM-') && (slot > 0 || chassis !== '3660');
    case 'c2600':
      return slot === 1 && card.startsWith('NM-') && card !== 'NM-4T';
    case 'c1700':
      return false;
    default:
      return slot > 0 && ['NM-1FE-TX', 'NM-4T', 'NM-16ESW'].includes(card);
  }
}

/** Whether a slot with this card has a port of this number; WICs are in slot 0. */
export function hasPort(
  cards: { slots: readonly (string | null)[]; wics: readonly (string | null)[] },
  slot: number,
  port: number,
): boolean {
  const card = cards.slots[slot];
  if (card === undefined || card === null) return false;
  if (port < (PORTS[card] ?? 0)) return true;
  const place = Math.floor(port / WIC_PORT_BASE) - 1;
  const wic = slot === 0 ? cards.wics[place] : undefined;
  return wic != null && port % WIC_PORT_BASE < (WIC_PORTS[wic] ?? 0);
}
