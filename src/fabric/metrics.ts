// Prometheus metrics of the fabric.

import type { Metric, Sample } from '../host/metrics.ts';
import type { Fabric } from './fabric.ts';
import type { FabricTotals } from './model.ts';

/** Converts to the form of metric labels: `rateQueue` to `rate_queue`. */
function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function fabricMetrics(fabric: Fabric): Metric[] {
  // All metrics of one scrape share one request to the fabric.
  let asked: Promise<FabricTotals> | undefined;
  const totals = (): Promise<FabricTotals> => {
    asked ??= fabric.totals().finally(() => {
      asked = undefined;
    });
    return asked;
  };
  const counter = (name: string, help: string, samples: (totals: FabricTotals) => Sample[]): Metric => ({
    name,
    type: 'counter',
    help,
    samples: async () => samples(await totals()),
  });
  const traffic = (unit: 'frames' | 'bytes') => (all: FabricTotals) => [
    { labels: { direction: 'sent' }, value: all.toCable[unit] },
    { labels: { direction: 'received' }, value: all.toDevice[unit] },
  ];
  const one = (value: (all: FabricTotals) => number) => (all: FabricTotals) => [{ value: value(all) }];
  return [
    counter(
      'labwire_frames_total',
      'Frames that nodes have sent into cables, and received from them.',
      traffic('frames'),
    ),
    counter('labwire_bytes_total', 'Bytes of these frames.', traffic('bytes')),
    counter('labwire_drops_total', 'Frames that did not arrive, by the reason.', ({ drops }) =>
      Object.entries(drops).map(([reason, value]) => ({ labels: { reason: snakeCase(reason) }, value })),
    ),
    {
      name: 'labwire_captures',
      type: 'gauge',
      help: 'Captures that run.',
      samples: () => [{ value: fabric.captures }],
    },
    counter(
      'labwire_capture_frames_total',
      'Frames that captures have recorded.',
      one(({ captured }) => captured.frames),
    ),
    counter(
      'labwire_capture_drops_total',
      'Frames that captures could not record, as the disk was too slow.',
      one(({ captured }) => captured.drops),
    ),
  ];
}
