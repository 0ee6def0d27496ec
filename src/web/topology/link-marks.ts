// Marks of a link on the map: impairments, capture, filters, suspension and, if shown, its rate.

import type { LinkCounters } from '../../api/objects.ts';
import type { LabContext } from '../lab-context.ts';
import { inNumbers } from '../language.ts';
import { rateText } from '../model/lab/counters.ts';
import type { Point } from '../model/lab/geometry.ts';
import { linkName, linkStates } from '../model/lab/link-name.ts';
import type { Impairments, LinkObject } from '../model/server/types.ts';
import { make, set, write } from './svg.ts';

/** Rates in kbit/s from which a line has the next width. */
const STEPS = [1, 100, 1_000, 10_000, 100_000];

/** Pixels from the middle of the line up to the marks, and from these down to the rate. */
const ABOVE = 6;
const BELOW = 22;

export interface Marks {
  /** Of the line. */
  middle: Point;
  mark?: SVGTextElement;
  rate?: SVGTextElement;
}

export function placeMarks({ middle: { x, y }, mark, rate }: Marks): void {
  if (mark) set(mark, { x, y: y - ABOVE });
  if (rate) set(rate, { x, y: y - ABOVE + BELOW });
}

/** Writes the marks, the link's accessible name, and its width. */
export function drawMarks({ lab, traffic }: LabContext, link: LinkObject, group: SVGGElement, shown: Marks): void {
  // Most links have neither.
  const writeMark = (what: 'mark' | 'rate', text: string): void => {
    if (text !== '')
      shown[what] ??= make('text', { class: what, 'text-anchor': 'middle', 'aria-hidden': 'true' }, group);
    if (shown[what]) write(shown[what], text);
  };
  const counters = lab.counters.links.peek().get(link.link_id);
  const isDropping = lab.counters.dropping.peek().has(link.link_id);
  const rate = traffic.peek() && counters ? Math.max(counters.forward.rate_kbit, counters.backward.rate_kbit) : 0;
  const impairments = impairmentText(link);
  const marks = [
    link.suspend ? '‖' : '',
    Object.keys(link.filters).length > 0 ? '▼' : '',
    impairments,
    link.capturing ? `● ${captured(counters)}`.trim() : '',
  ];
  writeMark('mark', marks.filter(Boolean).join('  '));
  const rates = rate > 0 && counters ? ratesText(counters) : '';
  writeMark('rate', rates && ` ${rates}`);
  set(group, { 'data-traffic': STEPS.filter((step) => rate >= step).length });
  placeMarks(shown);
  group.classList.toggle('dropping', traffic.peek() && isDropping);
  // Without the frame count: a name that changes each second would be read out each second.
  const said = [linkName(lab, link), ...linkStates(link), impairments, rates];
  set(group, { 'aria-label': said.filter(Boolean).join(', ') });
}

function captured(counters: LinkCounters | undefined): string {
  return counters?.capture ? inNumbers(counters.capture.frames) : '';
}

function ratesText({ forward, backward }: LinkCounters): string {
  const [there, back] = [forward.rate_kbit, backward.rate_kbit];
  if (there === 0 || back === 0) return rateText(there + back);
  return `→ ${rateText(there)} ← ${rateText(back)}`;
}

/** For example `30 ms 1 %`; both directions if they differ. */
function impairmentText({ impairments }: LinkObject): string {
  if (!impairments) return '';
  const [there, back] = [impairments.forward, impairments.backward].map((each) => directionText(each as Impairments));
  if (there === back) return there ?? '';
  return [there && `→ ${there}`, back && `← ${back}`].filter(Boolean).join(' ');
}

function directionText({ rate, delay, loss, ...others }: Impairments): string {
  return [
    rate && rateText(Number(rate['kbit'])),
    delay && `${delay['ms']} ms`,
    loss && `${loss['percent']} %`,
    Object.keys(others).length > 0 && '+',
  ]
    .filter(Boolean)
    .join(' ');
}
