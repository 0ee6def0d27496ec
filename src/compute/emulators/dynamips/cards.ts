// The cards of routers: their numbers of ports, and the slots that accept them (facts of release 2.2.57).
import { portsOfCard, portsOfWic } from '../../../api/kinds/router-ports.ts';
import type { Platform } from './platforms.ts';
import { refusal } from './platforms.ts';

/** Ports of the WIC in place `w` have the numbers from 16 x (w + 1) on, in slot 0. */
export const WIC_PORT_BASE = 16;

/** Whether this is a card that users may put into a slot; built-in boards are not. */
export function isCard(name: string): boolean {
  return /^(C7200-IO|PA|NM)-/.test(name) && portsOfCard(name) !== undefined;
}

export function isWic(name: string): boolean {
  return portsOfWic(name) !== undefined;
}

/** @throws Failure `conflict` (`DynamipsError`) for a card that does not fit into the slot */
export function mustFit(platform: Platform, chassis: string, slot: number, card: string): void {
  if (fits(platform, chassis, slot, card)) return;
  throw refusal(`slot${slot}: a ${platform.name} ${chassis} does not take ${card} there.`.replace('  ', ' '));
}

/** @throws Failure `conflict` (`DynamipsError`) for a WIC that the platform does not accept */
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
  if (port < (portsOfCard(card) ?? 0)) return true;
  const place = Math.floor(port / WIC_PORT_BASE) - 1;
  const wic = slot === 0 ? cards.wics[place] : undefined;
  return wic != null && port % WIC_PORT_BASE < wicPorts(wic);
}

/** The emulator gives the Ethernet WIC two ports, of which clients see one. */
function wicPorts(wic: string): number {
  return wic === 'WIC-1ENET' ? 2 : (portsOfWic(wic) ?? 0);
}
