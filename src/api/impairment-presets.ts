// Presets of impairments for well-known access lines, each with the source of its rates and delay.
import type { DirectionImpairments } from './impairments.ts';

export interface Preset {
  name: string;
  description: string;
  /** Source of its figures. */
  source: string;
  /** From the subscriber, or the first end, to the network. */
  up: DirectionImpairments;
  /** From the network to the subscriber. */
  down: DirectionImpairments;
}

/** The same in both directions. */
const both = (impairments: DirectionImpairments): Pick<Preset, 'up' | 'down'> => ({
  up: impairments,
  down: impairments,
});

const normal = (ms: number, jitter: number) =>
  ({ ms, jitter, distribution: 'normal', correlation: 25, keep_order: true }) as const;
const tailed = (ms: number, jitter: number) =>
  ({ ms, jitter, distribution: 'paretonormal', correlation: 25, keep_order: true }) as const;

export const PRESETS: readonly Preset[] = [
  {
    name: 'adsl',
    description: 'ADSL: 1.5 Mbit/s down, 384 kbit/s up, 50 ms round trip',
    source: 'the profile "DSL" of WebPageTest',
    up: { rate: { kbit: 384, queue_ms: 500 }, delay: normal(25, 2) },
    down: { rate: { kbit: 1500, queue_ms: 250 }, delay: normal(25, 2) },
  },
  {
    name: 'adsl2plus',
    description: 'ADSL2+: 16 Mbit/s down, 800 kbit/s up, 30 ms round trip',
    source: 'rates that ITU-T G.992.5 asks for at least; the time is ours',
    up: { rate: { kbit: 800, queue_ms: 300 }, delay: normal(15, 2) },
    down: { rate: { kbit: 16_000, queue_ms: 150 }, delay: normal(15, 2) },
  },
  {
    name: 'vdsl',
    description: 'VDSL2: 80 Mbit/s down, 20 Mbit/s up, 16 ms round trip',
    source: 'the usual fibre-to-the-cabinet product over ITU-T G.993.2 (VDSL2); the time is ours',
    up: { rate: { kbit: 20_000, queue_ms: 100 }, delay: normal(8, 0.5) },
    down: { rate: { kbit: 80_000, queue_ms: 100 }, delay: normal(8, 0.5) },
  },
  {
    name: 'cable',
    description: 'Cable modem: 5 Mbit/s down, 1 Mbit/s up, 28 ms round trip',
    source: 'the profile "Cable" of WebPageTest',
    up: { rate: { kbit: 1000, queue_ms: 250 }, delay: normal(14, 2) },
    down: { rate: { kbit: 5000, queue_ms: 150 }, delay: normal(14, 2) },
  },
  {
    name: 'fibre',
    description: 'Fibre to the home: 20 Mbit/s down, 5 Mbit/s up, 4 ms round trip',
    source: 'the profile "FIOS" of WebPageTest',
    up: { rate: { kbit: 5000, queue_ms: 100 }, delay: { ms: 2 } },
    down: { rate: { kbit: 20_000, queue_ms: 100 }, delay: { ms: 2 } },
  },
  {
    name: '3g',
    description: '3G: 1.6 Mbit/s down, 768 kbit/s up, 300 ms round trip, long tail',
    source: 'the profile "3G" of WebPageTest',
    up: { rate: { kbit: 768, queue_ms: 500 }, delay: tailed(150, 20), loss: { percent: 0.5, correlation: 25 } },
    down: { rate: { kbit: 1600, queue_ms: 500 }, delay: tailed(150, 20), loss: { percent: 0.5, correlation: 25 } },
  },
  {
    name: 'lte',
    description: 'LTE: 12 Mbit/s in each direction, 70 ms round trip, long tail',
    source: 'the profile "LTE" of WebPageTest',
    ...both({ rate: { kbit: 12_000, queue_ms: 250 }, delay: tailed(35, 5), loss: { percent: 0.1, correlation: 25 } }),
  },
  {
    name: '5g',
    description: '5G: 100 Mbit/s down, 50 Mbit/s up, 20 ms round trip',
    source: '100 and 50 Mbit/s are the user rates that ITU-R M.2410 asks of IMT-2020; the time is ours',
    up: { rate: { kbit: 50_000, queue_ms: 100 }, delay: tailed(10, 2), loss: { percent: 0.05, correlation: 25 } },
    down: { rate: { kbit: 100_000, queue_ms: 100 }, delay: tailed(10, 2), loss: { percent: 0.05, correlation: 25 } },
  },
  {
    name: 'geo_satellite',
    description: 'Geostationary satellite: 25 Mbit/s down, 3 Mbit/s up, 520 ms round trip',
    source: '260 ms in each direction: ITU-T G.114 for a geostationary satellite; the rates are ours',
    up: { rate: { kbit: 3000, queue_ms: 500 }, delay: normal(260, 5), loss: { percent: 0.1 } },
    down: { rate: { kbit: 25_000, queue_ms: 500 }, delay: normal(260, 5), loss: { percent: 0.1 } },
  },
  {
    name: 'leo_satellite',
    description: 'Low orbit satellite: 100 Mbit/s down, 10 Mbit/s up, 40 ms round trip, losses in bursts',
    source: 'within what Starlink publishes for its service: 25 to 60 ms; the rates are ours',
    up: { rate: { kbit: 10_000, queue_ms: 200 }, delay: tailed(20, 4), burst_loss: { p: 0.05, r: 20 } },
    down: { rate: { kbit: 100_000, queue_ms: 100 }, delay: tailed(20, 4), burst_loss: { p: 0.05, r: 20 } },
  },
  {
    name: 'wifi_good',
    description: 'Wi-Fi close to the access point: 100 Mbit/s, 2 ms in each direction',
    source: 'ours',
    ...both({ rate: { kbit: 100_000, queue_ms: 50 }, delay: tailed(2, 1), loss: { percent: 0.01 } }),
  },
  {
    name: 'wifi_bad',
    description: 'Wi-Fi far from the access point: 5 Mbit/s, 10 ms in each direction, losses in bursts',
    source: 'ours',
    ...both({ rate: { kbit: 5000, queue_ms: 200 }, delay: tailed(10, 10), burst_loss: { p: 1, r: 25, loss_bad: 50 } }),
  },
  {
    name: 'transatlantic_fibre',
    description: 'Fibre of 6,600 km under an ocean: 1 Gbit/s, 33 ms in each direction',
    source: '5 µs for a kilometre (ITU-T G.114)',
    ...both({ rate: { kbit: 1_000_000, queue_ms: 50 }, delay: { ms: 33 } }),
  },
  {
    name: 'antipodal_fibre',
    description: 'Fibre of 20,000 km, half around the world: 1 Gbit/s, 100 ms in each direction',
    source: '5 µs for a kilometre (ITU-T G.114)',
    ...both({ rate: { kbit: 1_000_000, queue_ms: 50 }, delay: { ms: 100 } }),
  },
  {
    name: 'e1',
    description: 'E1 leased line: 2,048 kbit/s, 5 ms in each direction',
    source: 'ITU-T G.703; the time is ours',
    ...both({ rate: { kbit: 2048 }, delay: { ms: 5 } }),
  },
  {
    name: 'serial_64k',
    description: 'Serial line of 64 kbit/s, 5 ms in each direction',
    source: 'ITU-T G.703; time and errors are ours',
    ...both({ rate: { kbit: 64, queue_frames: 40 }, delay: { ms: 5 } }),
  },
  {
    name: 'lossy_serial',
    description: 'Serial line of 64 kbit/s with bursts of errors: some 2 % of the frames are lost, some damaged',
    source: 'ITU-T G.703; time and errors are ours',
    ...both({
      rate: { kbit: 64, queue_frames: 40 },
      delay: { ms: 5 },
      burst_loss: { p: 0.5, r: 20, loss_bad: 80 },
      corrupt: { percent: 0.5 },
    }),
  },
];
