// Prometheus metrics of event buses.
import type { Metric } from '../host/metrics.ts';
import type { EventBus } from './bus.ts';

/** @param buses by their value of the label `bus` */
export function eventMetrics(
  buses: Readonly<Record<string, Pick<EventBus<object>, 'lag' | 'emitted' | 'listenerCount'>>>,
): Metric[] {
  const each = (value: (bus: (typeof buses)[string]) => number) => () =>
    Object.entries(buses).map(([bus, own]) => ({ labels: { bus }, value: value(own) }));
  return [
    {
      name: 'labwire_events_total',
      type: 'counter',
      help: 'Events announced.',
      samples: each(({ emitted }) => emitted),
    },
    {
      name: 'labwire_listeners',
      type: 'gauge',
      help: 'Listeners of notifications.',
      samples: each(({ listenerCount }) => listenerCount),
    },
    {
      name: 'labwire_event_lag_seconds',
      type: 'histogram',
      help: "Time from an event to the moment at which a listener's stream takes it.",
      samples: () =>
        Object.entries(buses).flatMap(([bus, { lag }]) =>
          lag.samples().map((sample) => ({ ...sample, labels: { bus, ...sample.labels } })),
        ),
    },
  ];
}
