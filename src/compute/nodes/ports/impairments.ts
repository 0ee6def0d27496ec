import { changed } from '../../../api/impairments.ts';
import type { DirectionCounters } from '../../../api/objects.ts';
import type { PortImpairments, PortSchedule } from '../../../api/routes/compute-nodes.ts';
import type {
  CableImpairments,
  CableStatistics,
  DirectionStatistics,
  SchedulePlan,
  ScheduleState,
  TunnelStatistics,
} from '../../../fabric/fabric.ts';
import { invalid } from '../../../failures.ts';
import type { VxlanState } from '../../../host/network/vxlan-links.ts';

/** Drops members without effect. */
export function cableImpairments({ outgoing, incoming }: PortImpairments): CableImpairments {
  return { outgoing: changed({}, outgoing ?? {}), incoming: changed({}, incoming ?? {}) };
}

/**
 * Converts the schedule to the fabric's form: the impairments from each moment on at which a step begins or ends. Of
 * simultaneous steps, each one changes the result of those before it (by `at`, then by their order), starting with
 * `base`.
 * @throws Failure `invalid` that names the step or member
 */
export function planOf(base: CableImpairments, { steps, period, rounds = 1 }: PortSchedule): SchedulePlan {
  const ends = steps.map(({ at, for: seconds }) => at + (seconds ?? Infinity));
  const round = period ?? Math.max(...ends);
  if (round === Infinity && rounds !== 1) {
    throw invalid('period: is required for more than one round, unless each step says for how long.');
  }
  for (const [index, { at }] of steps.entries()) {
    if (at < round) continue;
    throw invalid(`steps.${index}.at: must be less than the period (${round} seconds), not ${at}.`);
  }
  const ordered = steps
    .map((step, index) => ({ step, end: ends[index]! }))
    .sort((one, other) => one.step.at - other.step.at);
  const moments = new Set([0, ...steps.map(({ at }) => at), ...ends.filter((end) => end < round)]);
  const changes = [...moments]
    .sort((one, other) => one - other)
    .map((moment) => {
      const impairments = ordered
        .filter(({ step, end }) => step.at <= moment && moment < end)
        .reduce<CableImpairments>(
          (before, { step }) => ({
            outgoing: changed(before.outgoing, step.outgoing ?? {}),
            incoming: changed(before.incoming, step.incoming ?? {}),
          }),
          base,
        );
      return { at: moment * 1000, impairments };
    });
  return { changes, period: round * 1000, rounds, base };
}

/** A started schedule: as requested, and in the fabric's form. */
export interface Started {
  asked: PortSchedule;
  plan: SchedulePlan;
}

/** A schedule's state for clients; seconds, and rounds from 1 on. */
export function scheduleAnswer(started: Started | undefined, now: ScheduleState | undefined): object {
  if (started === undefined || now === undefined) return { state: 'none' };
  const { plan, asked } = started;
  const running = now.state === 'running' ? plan.changes[now.change]?.impairments : undefined;
  return {
    state: now.state,
    elapsed: seconds(now.elapsed),
    round: now.round + 1,
    rounds: plan.rounds,
    period: Number.isFinite(plan.period) ? plan.period / 1000 : null,
    steps: asked.steps,
    ...(running ?? plan.base),
  };
}

export function statisticsAnswer({ outgoing, incoming }: CableStatistics): {
  outgoing: DirectionCounters;
  incoming: DirectionCounters;
} {
  return { outgoing: directionAnswer(outgoing), incoming: directionAnswer(incoming) };
}

/** @param without why there is no way by VXLAN, if there is none */
export function tunnelAnswer(
  tunnel: TunnelStatistics | undefined,
  vxlan: VxlanState | undefined,
  without: string,
): object | null {
  if (tunnel === undefined) return null;
  const { isUsed = false, reason = without, fragmented = 0, tooLong = 0 } = vxlan ?? {};
  return {
    by: isUsed ? 'vxlan' : 'udp',
    reason,
    path_mtu: tunnel.pathMtu,
    max_frame: isUsed ? vxlan!.longestWhole : tunnel.longestWhole,
    fragmented: tunnel.fragmented + fragmented,
    too_long: tunnel.tooLong + tooLong,
  };
}

function directionAnswer(seen: DirectionStatistics): DirectionCounters {
  const { offered, dropped, delay } = seen;
  const lost = dropped.frequencyDrop + dropped.packetLoss + dropped.loss;
  return {
    seconds: seconds(seen.milliseconds),
    offered,
    delivered: seen.delivered,
    dropped: {
      frequency_drop: dropped.frequencyDrop,
      packet_loss: dropped.packetLoss,
      bpf: dropped.packetFilters,
      loss: dropped.loss,
      rate_queue: dropped.rateQueue,
      delay_queue: dropped.delayQueue,
    },
    loss_percent: offered.frames === 0 ? 0 : rounded((lost / offered.frames) * 100),
    duplicated: seen.duplicated,
    reordered: seen.reordered,
    corrupted: seen.corrupted,
    rate_kbit: rounded(seen.kbit),
    delay: delay
      ? {
          frames: delay.frames,
          mean_ms: rounded(delay.mean),
          min_ms: rounded(delay.least),
          max_ms: rounded(delay.most),
          p50_ms: rounded(delay.median),
          p95_ms: rounded(delay.percentile95),
          p99_ms: rounded(delay.percentile99),
        }
      : null,
    held: seen.held,
    queue: seen.queue,
  };
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}

function seconds(milliseconds: number): number {
  return rounded(milliseconds / 1000);
}
