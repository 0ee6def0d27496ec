// A router's settings: the members that a change may set, with their defaults (facts of release 2.2.57).

import {
  type DynamipsCreate,
  type DynamipsUpdate,
  type platformSettings,
  routerSettings,
} from '../../../api/kinds/dynamips.ts';
import { defaultsOf, type SettingsOf } from '../../../api/kinds/property.ts';
import { isCard, isWic, mustFit, mustFitWic } from './cards.ts';
import { chassisOf, ioCard, type Platform, platformOf, refusal } from './platforms.ts';

const SENSORS = [22, 22, 22, 22];
const POWER_SUPPLIES = [1, 1];

type OfPlatform = { [Name in keyof typeof platformSettings]: NonNullable<DynamipsUpdate[Name]> };
/** Of a c7200; the others have `iomem`. */
type OfC7200 = 'npe' | 'midplane' | 'sensors' | 'power_supplies';

/** Memory and disks in MiB, `nvram` in KiB. */
export type Settings = SettingsOf<typeof routerSettings> & { ram: number } & Omit<OfPlatform, OfC7200 | 'iomem'> &
  Partial<Pick<OfPlatform, OfC7200 | 'iomem'>>;

export interface RouterSetup {
  readonly platform: Platform;
  /** Empty if the platform has no choice of chassis. */
  readonly chassis: string;
  readonly settings: Settings;
  readonly slots: readonly (string | null)[];
  readonly wics: readonly (string | null)[];
}

/** Features that the server's configuration disables. */
export interface Support {
  mmap_support: boolean;
  sparse_memory_support: boolean;
}

/** @throws Failure `conflict` (`DynamipsError`) that names the member */
export function newSetup(
  body: DynamipsCreate,
  identity: { nodeId: string; dynamipsId: number },
  support: Support,
): RouterSetup {
  const platform = platformOf(body.platform);
  const { chassis, slots } = chassisOf(platform, body.chassis);
  const npe = body.npe ?? 'npe-400';
  const cards = slots.map(({ card }, slot) => (platform.name === 'c7200' && slot === 0 ? ioCard(npe) : card));
  const settings: Settings = {
    ...defaultsOf(routerSettings, identity.nodeId),
    ram: platform.ram,
    nvram: platform.nvram,
    sparsemem: platform.sparsemem,
    clock_divisor: platform.clockDivisor,
    disk0: platform.disk0,
    mac_addr: defaultMac(platform, identity),
    ...(platform.iomem === undefined
      ? { npe, midplane: 'vxr', sensors: SENSORS, power_supplies: POWER_SUPPLIES }
      : { iomem: platform.iomem }),
  };
  const wics = Array.from({ length: platform.wics }, () => null);
  const { chassis: _, dynamips_id: __, aux: ___, idlepc, ...rest } = body;
  // An empty value stands for the default; in a change it restores that.
  const given = idlepc === '' || idlepc === undefined ? rest : { ...rest, idlepc };
  return changedSetup({ platform, chassis, settings, slots: cards, wics }, given, support);
}

/** @throws Failure `conflict` (`DynamipsError`) that names the member */
export function changedSetup(before: RouterSetup, body: DynamipsUpdate, support: Support): RouterSetup {
  const { platform } = before;
  const settings: Record<string, unknown> = { ...before.settings };
  for (const member of Object.keys(settings)) {
    const value = (body as Record<string, unknown>)[member];
    if (value != null) settings[member] = value;
  }
  if (body.idlepc === '') settings['idlepc'] = '0x0';
  if (!support.mmap_support) settings['mmap'] = false;
  if (!support.sparse_memory_support) settings['sparsemem'] = false;
  mustBeSane(settings as unknown as Settings);
  const isOther = platform.hasChassis && body.chassis !== undefined && body.chassis !== before.chassis;
  const other = isOther ? chassisOf(platform, body.chassis) : undefined;
  const chassis = other?.chassis ?? before.chassis;
  const slots = other?.slots.map(({ card }) => card) ?? [...before.slots];
  const boards = chassisOf(platform, chassis === '' ? undefined : chassis).slots;
  const wics = [...before.wics];
  for (const [place, index, card] of cardsIn(body)) {
    if (place === 'wic') {
      if (platform.wics === 0 || (card !== null && !isWic(card))) continue;
      if (index < wics.length) {
        if (card !== null) mustFitWic(platform, index, card);
        wics[index] = card;
      } else if (card !== null) throw refusal(`wic${index}: a ${platform.name} has ${wics.length} places for WICs.`);
      continue;
    }
    if (card !== null && !isCard(card)) continue;
    const board = boards[index];
    if (!board) {
      if (card === null) continue;
      throw refusal(`slot${index}: a ${platform.name} ${chassis} has ${boards.length} slots.`.replace('  ', ' '));
    }
    if (board.fixed) {
      if (card === null || card === board.card) continue;
      throw refusal(`slot${index}: ${board.card} is built in; use another slot.`);
    }
    if (card !== null) mustFit(platform, chassis, index, card);
    slots[index] = card;
  }
  return { platform, chassis, settings: settings as unknown as Settings, slots, wics };
}

/** As in the API. */
export function setupProperties({ platform, chassis, settings, slots, wics }: RouterSetup): object {
  const numbered = (name: string, cards: readonly (string | null)[]): object =>
    Object.fromEntries(cards.map((card, index) => [`${name}${index}`, card]));
  return {
    platform: platform.name,
    ...(platform.hasChassis && { chassis }),
    ...settings,
    ...numbered('slot', slots),
    ...numbered('wic', wics),
  };
}

/** The first member that differs and cannot change while the router runs; undefined if there is none. */
export function changeForStopped(before: RouterSetup, after: RouterSetup): string | undefined {
  if (after.chassis !== before.chassis) return 'chassis';
  if (after.settings.npe !== before.settings.npe) return 'npe';
  const wic = before.wics.findIndex((card, place) => after.wics[place] !== card);
  if (wic >= 0) return `wic${wic}`;
  const isFixed = (slot: number): boolean => before.platform.name !== 'c7200' || slot === 0;
  const slot = before.slots.findIndex((card, index) => after.slots[index] !== card && isFixed(index));
  return slot >= 0 ? `slot${slot}` : undefined;
}

/** The cards in a body, in its order; null empties the place. */
function* cardsIn(body: object): Generator<['slot' | 'wic', number, string | null]> {
  for (const [member, value] of Object.entries(body)) {
    const [, place, index] = /^(slot|wic)(\d)$/.exec(member) ?? [];
    if (place === undefined || value === undefined) continue;
    yield [place as 'slot' | 'wic', Number(index), value === null || value === '' ? null : String(value)];
  }
}

/** Rejects values that the emulator accepts but fails with. */
function mustBeSane(settings: Settings): void {
  const least: [keyof Settings, number][] = [
    ['ram', 1],
    ['nvram', 1],
    ['disk0', 0],
    ['disk1', 0],
    ['clock_divisor', 1],
    ['exec_area', 1],
    ['idlemax', 1],
    ['idlesleep', 1],
  ];
  for (const [member, lowest] of least) {
    const value = settings[member] as number;
    if (value < lowest || value > 65_536) throw refusal(`${member}: ${value} is out of range; use at least ${lowest}.`);
  }
  if (settings.sensors && settings.sensors.length !== 4) throw refusal('sensors: give four temperatures.');
  if (settings.power_supplies && settings.power_supplies.length !== 2)
    throw refusal('power_supplies: give two states.');
}

/**
 * As the emulator derives it, except two bytes: the emulator takes them from its process, here they come from the node.
 */
function defaultMac({ macByte }: Platform, { nodeId, dynamipsId }: { nodeId: string; dynamipsId: number }): string {
  const hex = (value: number): string => (value & 255).toString(16).padStart(2, '0');
  return `${hex(macByte)}${hex(dynamipsId)}.${nodeId.slice(0, 4).toLowerCase()}.0000`;
}
