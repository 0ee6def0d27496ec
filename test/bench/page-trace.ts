// What Chromium's own trace tells of a gesture: the frames that were presented, and the tasks of the page's main thread.
import type { CDPSession } from 'playwright-core';

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  id?: string;
  id2?: { local?: string };
  ts: number;
  /** Elapsed time and CPU time of the thread, in microseconds. Chromium leaves the second out where it did not look. */
  dur?: number;
  tdur?: number;
  args: { name?: string; frame_reporter?: { state?: string } };
}

const CATEGORIES = [
  'cc',
  'benchmark',
  'devtools.timeline',
  'disabled-by-default-devtools.timeline',
  'disabled-by-default-devtools.timeline.frame',
];

/** Begins a trace; the result ends it and returns its events. */
export async function beginTrace(cdp: CDPSession): Promise<() => Promise<TraceEvent[]>> {
  const events: TraceEvent[] = [];
  const collect = ({ value }: { value: unknown[] }): void => void events.push(...(value as TraceEvent[]));
  cdp.on('Tracing.dataCollected', collect);
  await cdp.send('Tracing.start', { traceConfig: { includedCategories: CATEGORIES }, transferMode: 'ReportEvents' });
  return async () => {
    const complete = new Promise((resolve) => cdp.once('Tracing.tracingComplete', resolve));
    await cdp.send('Tracing.end');
    await complete;
    cdp.off('Tracing.dataCollected', collect);
    return events;
  };
}

export async function traceOf(cdp: CDPSession, gesture: () => Promise<unknown>): Promise<TraceEvent[]> {
  const end = await beginTrace(cdp);
  await gesture();
  return end();
}

/** Milliseconds between presented frames. */
export function framesOf(events: readonly TraceEvent[]): number[] {
  const begun = new Map<string, TraceEvent>();
  const presented: number[] = [];
  for (const event of events.filter(({ name }) => name === 'PipelineReporter')) {
    const key = `${event.pid} ${event.id2?.local ?? event.id}`;
    if (event.ph === 'b') begun.set(key, event);
    if (event.ph !== 'e') continue;
    const state = begun.get(key)?.args.frame_reporter?.state ?? event.args.frame_reporter?.state ?? '';
    if (state.includes('PRESENTED')) presented.push(event.ts / 1000);
  }
  presented.sort((a, b) => a - b);
  return presented
    .slice(1)
    .map((at, index) => at - presented[index]!)
    .filter((gap) => gap > 0.5);
}

/** Milliseconds of CPU of the main thread's longest task: of the busiest frame, as one task has all that a frame does there. */
export function longestTask(events: readonly TraceEvent[]): number {
  const thread = ({ pid, tid }: TraceEvent): string => `${pid} ${tid}`;
  const mains = new Set(
    events.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain').map(thread),
  );
  const tasks = events.filter((event) => event.name === 'RunTask' && event.ph === 'X' && mains.has(thread(event)));
  // The elapsed time is at least the CPU time.
  return Math.max(...tasks.map(({ dur = 0, tdur = dur }) => tdur / 1000));
}
