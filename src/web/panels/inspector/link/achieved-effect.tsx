// The present effect of a link on frames: requested and achieved values, drops by reason, and the rates of the last minute.

import type { DirectionCounters } from '../../../../api/objects.ts';
import type { LabContext } from '../../../lab-context.ts';
import { inNumbers } from '../../../language.ts';
import { HISTORY_SECONDS, rateText } from '../../../model/lab/counters.ts';
import { api } from '../../../model/server/api.ts';
import type { Impairments, LinkObject } from '../../../model/server/types.ts';
import { WORDS } from '../../../words.ts';
import { Button } from '../../button.tsx';
import { DIRECTIONS, type Direction } from './impairment-form.ts';

const words = WORDS.impairments;
const WIDTH = 240;
const HEIGHT = 36;

interface AchievedProps {
  context: LabContext;
  link: LinkObject;
  titles: Readonly<Record<Direction, string>>;
}

export function Achieved({ context: { lab, attempt }, link, titles }: AchievedProps) {
  const counters = lab.counters.links.value.get(link.link_id);
  if (!counters) return <p class="empty">{words.notCounted}</p>;
  const rates = lab.counters.rates(link.link_id);
  const top = Math.max(1, ...rates.forward, ...rates.backward);
  return (
    <section class="achieved" aria-label={words.achieved}>
      <table>
        <thead>
          <tr>
            <th scope="col">{words.achieved}</th>
            {DIRECTIONS.map((direction) => (
              <th key={direction} scope="col">
                {titles[direction]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {LINES.map(({ title, text }) => {
            const cells = DIRECTIONS.map((direction) =>
              text(counters[direction], (link.impairments?.[direction] ?? {}) as Impairments),
            );
            if (cells.every((cell) => cell === '')) return null;
            return (
              <tr key={title}>
                <th scope="row">{title}</th>
                {cells.map((cell, index) => (
                  <td key={DIRECTIONS[index]}>{cell}</td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
      <svg class="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={words.lastMinute(rateText(top))}>
        {DIRECTIONS.map((direction) => (
          <polyline key={direction} class={direction} points={pointsOf(rates[direction], top)} />
        ))}
      </svg>
      <p class="tools">
        <small>{words.lastMinute(rateText(top))}</small>
        {lab.whyNotChange === '' && (
          <Button
            onClick={() => void attempt(() => api.post(`${lab.path}/links/${link.link_id}/statistics/reset`))}
            text={words.reset}
          />
        )}
      </p>
    </section>
  );
}

function pointsOf(rates: readonly number[], top: number): string {
  const first = HISTORY_SECONDS - rates.length;
  return rates
    .map(
      (rate, index) =>
        `${((first + index) / (HISTORY_SECONDS - 1)) * WIDTH},${HEIGHT - 1 - (rate / top) * (HEIGHT - 2)}`,
    )
    .join(' ');
}

interface Line {
  title: string;
  text(counters: DirectionCounters, asked: Impairments): string;
}

const count = (value: number): string => inNumbers(value);
const beside = (asked: unknown, unit: string, achieved: string): string =>
  asked === undefined ? achieved : `${String(asked)} ${unit} / ${achieved}`;

const LINES: readonly Line[] = [
  { title: words.lines.rate, text: ({ rate_kbit }, { rate }) => beside(rate?.['kbit'], 'kbit/s', rateText(rate_kbit)) },
  {
    title: words.lines.loss,
    text: ({ loss_percent, offered }, { loss }) =>
      loss === undefined && loss_percent === 0
        ? ''
        : beside(loss?.['percent'], '%', offered.frames === 0 ? '–' : `${loss_percent} %`),
  },
  {
    title: words.lines.delay,
    text: ({ delay }, asked) =>
      delay === null && asked['delay'] === undefined
        ? ''
        : beside(asked['delay']?.['ms'], 'ms', delay === null ? '–' : words.delay(delay.mean_ms, delay.p95_ms)),
  },
  { title: words.lines.delivered, text: ({ delivered, offered }) => words.of(delivered.frames, offered.frames) },
  {
    title: words.lines.dropped,
    text: ({ dropped }) =>
      Object.entries(dropped)
        .filter(([, frames]) => frames > 0)
        .map(([reason, frames]) => `${count(frames)} ${words.reasons[reason] ?? reason}`)
        .join(', '),
  },
  { title: words.lines.held, text: ({ held }) => (held.frames === 0 ? '' : words.heldFrames(held.frames, held.bytes)) },
  {
    title: words.lines.others,
    text: ({ duplicated, reordered, corrupted }) =>
      [
        duplicated > 0 && `${count(duplicated)} ${words.duplicated}`,
        reordered > 0 && `${count(reordered)} ${words.reordered}`,
        corrupted > 0 && `${count(corrupted)} ${words.corrupted}`,
      ]
        .filter(Boolean)
        .join(', '),
  },
];
