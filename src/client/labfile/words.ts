// Plans and differences as people read them.
import { harmless } from '../../host/terminal-text.ts';
import { textWidth } from '../text-width.ts';
import type { Change } from './changes.ts';
import type { Difference } from './compare.ts';

const SIGNS: Readonly<Record<Change['action'], string>> = {
  create: '+',
  open: '~',
  change: '~',
  write: '~',
  delete: '-',
  replace: '!',
};

const LONGEST_VALUE = 60;

function valueText(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
}

const asText = ({ member, is, wanted }: Difference): string => `${member} ${valueText(is)} -> ${valueText(wanted)}`;

/** `+ node PC1 (VPCS)` */
export function changeText({ action, kind, name, what, restart }: Change): string {
  const doing =
    action === 'open' ? 'open ' : action === 'write' ? 'write ' : action === 'replace' ? 'delete and make anew ' : '';
  const about = what === undefined ? '' : ` (${what})`;
  return `${SIGNS[action]} ${doing}${kind} ${name}${about}${restart ? ', needs a restart' : ''}`;
}

/** The lines of a plan; each value that differs has one. */
export function planLines(changes: readonly Change[], width?: number): string[] {
  return changes.flatMap((change) => [
    ...wrapped(harmless(changeText(change)), width, '    '),
    ...(change.kind === 'file' ? [] : (change.differences ?? [])).flatMap((one) =>
      wrapped(harmless(`    ${asText(one)}`), width, '      '),
    ),
  ]);
}

/** `2 to create, 1 to change (1 with a restart), 1 to delete` */
export function summaryText(changes: readonly Change[]): string {
  const count = (...actions: Change['action'][]): number =>
    changes.filter(({ action }) => actions.includes(action)).length;
  const restarts = changes.filter(({ restart }) => restart).length;
  const parts = [
    [count('create'), 'to create'],
    [count('change', 'open', 'write'), restarts > 0 ? `to change (${restarts} with a restart)` : 'to change'],
    [count('replace'), 'to make anew'],
    [count('delete'), 'to delete'],
  ] as const;
  return parts.flatMap(([number, words]) => (number > 0 ? [`${number} ${words}`] : [])).join(', ') || 'nothing to do';
}

/** The text on lines that a terminal of this width does not break, where there is a blank to break it at. */
export function wrapped(text: string, width = Number.POSITIVE_INFINITY, indent = ''): string[] {
  const lines: string[] = [];
  const start = /^ */.exec(text)![0];
  let line = start;
  for (const word of text.slice(start.length).split(' ')) {
    const longer = line.trim() === '' ? `${line}${word}` : `${line} ${word}`;
    if (textWidth(longer) > width && line.trim() !== '') {
      lines.push(line);
      line = `${indent}${word}`;
    } else line = longer;
  }
  return [...lines, line];
}

/** The lines of both values, those that they have in common at the beginning and at the end left out. */
export function diffLines({ member, is, wanted }: Difference): string[] {
  const isText = typeof is === 'string' && typeof wanted === 'string' && `${is}${wanted}`.includes('\n');
  if (!isText) {
    return [
      ...(is === undefined || is === null ? [] : [`-   ${member}: ${JSON.stringify(is)}`]),
      `+   ${member}: ${JSON.stringify(wanted)}`,
    ];
  }
  const [before, after] = [is.split('\n'), wanted.split('\n')];
  const least = Math.min(before.length, after.length);
  let head = 0;
  while (head < least && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < least - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  return [
    ...before.slice(head, before.length - tail).map((line) => `-   ${line}`),
    ...after.slice(head, after.length - tail).map((line) => `+   ${line}`),
  ];
}
