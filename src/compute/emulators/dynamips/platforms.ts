// The routers that Dynamips emulates: defaults, chassis and slots of each platform (facts of release 2.2.57).
import { refusals } from '../../nodes/exception-name.ts';

const PLATFORM_NAMES = ['c1700', 'c2600', 'c2691', 'c3600', 'c3725', 'c3745', 'c7200'] as const;
export type PlatformName = (typeof PLATFORM_NAMES)[number];

/** A slot's default card; `fixed`: it cannot be removed. */
export interface Slot {
  card: string | null;
  fixed: boolean;
}

export interface Platform {
  readonly name: PlatformName;
  /** MiB */
  readonly ram: number;
  /** KiB */
  readonly nvram: number;
  /** MiB */
  readonly disk0: number;
  /** Per cent of the memory used for packets; undefined if that is not a setting. */
  readonly iomem?: number;
  readonly clockDivisor: number;
  readonly sparsemem: boolean;
  /** Places for WAN interface cards, all in slot 0. */
  readonly wics: number;
  /** First byte of the base MAC address. */
  readonly macByte: number;
  /** Slots by chassis; the first chassis is the default. */
  readonly chassis: Readonly<Record<string, readonly Slot[]>>;
  /** The chassis is a setting. */
  readonly hasChassis: boolean;
}

const EMPTY: Slot = { card: null, fixed: false };
const fixed = (card: string): Slot => ({ card, fixed: true });
const slots = (first: Slot, others: number): Slot[] => [first, ...Array.from({ length: others }, () => EMPTY)];

const one = (list: readonly Slot[]): Record<string, readonly Slot[]> => ({ '': list });
const each = (names: readonly string[], list: readonly Slot[]): Record<string, readonly Slot[]> =>
  Object.fromEntries(names.map((name) => [name, list]));

const GT96100 = fixed('GT96100-FE');
const C1700_BOARD = fixed('C1700-MB-1FE');

const C1700: Platform['chassis'] = {
  ...each(['1720', '1721', '1750'], slots(C1700_BOARD, 0)),
  ...each(['1751', '1760'], [C1700_BOARD, fixed('C1700-MB-WIC1')]),
};
const C2600: Platform['chassis'] = {
  '2610': slots(fixed('C2600-MB-1E'), 1),
  '2611': slots(fixed('C2600-MB-2E'), 1),
  '2620': slots(fixed('C2600-MB-1FE'), 1),
  '2621': slots(fixed('C2600-MB-2FE'), 1),
  ...each(['2610XM', '2620XM', '2650XM'], slots(fixed('C2600-MB-1FE'), 1)),
  ...each(['2611XM', '2621XM', '2651XM'], slots(fixed('C2600-MB-2FE'), 1)),
};
const C3600: Platform['chassis'] = {
  '3620': slots(EMPTY, 1),
  '3640': slots(EMPTY, 3),
  '3660': slots(fixed('Leopard-2FE'), 6),
};

const LARGE = { sparsemem: true, hasChassis: false } as const;

export const PLATFORMS: Readonly<Record<PlatformName, Platform>> = {
  c1700: {
    name: 'c1700',
    ram: 64,
    nvram: 32,
    disk0: 0,
    iomem: 15,
    clockDivisor: 8,
    sparsemem: false,
    wics: 2,
    macByte: 0xd0,
    chassis: C1700,
    hasChassis: true,
  },
  c2600: {
    name: 'c2600',
    ram: 64,
    nvram: 128,
    disk0: 0,
    iomem: 15,
    clockDivisor: 8,
    sparsemem: false,
    wics: 3,
    macByte: 0xc8,
    chassis: C2600,
    hasChassis: true,
  },
  c2691: {
    name: 'c2691',
    ram: 128,
    nvram: 112,
    disk0: 16,
    iomem: 5,
    clockDivisor: 8,
    wics: 3,
    macByte: 0xc0,
    ...LARGE,
    chassis: one(slots(GT96100, 1)),
  },
  c3600: {
    name: 'c3600',
    ram: 128,
    nvram: 128,
    disk0: 0,
    iomem: 5,
    clockDivisor: 4,
    sparsemem: true,
    wics: 0,
    macByte: 0xcc,
    chassis: C3600,
    hasChassis: true,
  },
  c3725: {
    name: 'c3725',
    ram: 128,
    nvram: 112,
    disk0: 16,
    iomem: 5,
    clockDivisor: 8,
    wics: 3,
    macByte: 0xc2,
    ...LARGE,
    chassis: one(slots(GT96100, 2)),
  },
  c3745: {
    name: 'c3745',
    ram: 128,
    nvram: 304,
    disk0: 16,
    iomem: 5,
    clockDivisor: 8,
    wics: 3,
    macByte: 0xc4,
    ...LARGE,
    chassis: one(slots(GT96100, 4)),
  },
  c7200: {
    name: 'c7200',
    ram: 256,
    nvram: 128,
    disk0: 64,
    clockDivisor: 4,
    wics: 0,
    macByte: 0xca,
    ...LARGE,
    chassis: one(slots({ card: 'C7200-IO-FE', fixed: false }, 6)),
  },
};

/** Of a c7200, whose first slot depends on its processor. */
export function ioCard(npe: string): string {
  return npe === 'npe-g2' ? 'C7200-IO-GE-E' : 'C7200-IO-FE';
}

/** The chassis of a router without a given one. */
const DEFAULT_CHASSIS: Readonly<Partial<Record<PlatformName, string>>> = {
  c1700: '1720',
  c2600: '2610',
  c3600: '3640',
};

/** @throws Failure `conflict` (`DynamipsError`) for an unknown one */
export function platformOf(name: string): Platform {
  const platform = PLATFORMS[name as PlatformName] as Platform | undefined;
  if (platform) return platform;
  throw refusal(`platform: ${name} is not known; use ${PLATFORM_NAMES.join(', ')}.`);
}

/**
 * The slots of a chassis, by default of the platform's usual one.
 * @throws Failure `conflict` (`DynamipsError`) for a chassis that the platform does not have
 */
export function chassisOf(platform: Platform, wanted?: string): { chassis: string; slots: readonly Slot[] } {
  if (wanted !== undefined && !platform.hasChassis) {
    throw refusal(`chassis: a ${platform.name} has none to choose from; leave it out.`);
  }
  const chassis = wanted ?? DEFAULT_CHASSIS[platform.name] ?? '';
  const found = platform.chassis[chassis];
  if (found) return { chassis, slots: found };
  throw refusal(`chassis: there is no ${platform.name} ${chassis}; use ${Object.keys(platform.chassis).join(', ')}.`);
}

export const refusal = refusals('DynamipsError');
