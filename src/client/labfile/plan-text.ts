// Plans and differences as text for users.
import { harmless } from '../../host/terminal/terminal-text.ts';
import { textWidth } from '../../host/terminal/text-width.ts';
import { counted } from '../terminal/counted.ts';
import type { Change, Kind } from './changes.ts';
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
    action === 'open'
      ? 'open '
      : action === 'write'
        ? 'write '
        : action === 'replace'
          ? 'delete and create again '
          : '';
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

const KINDS: readonly Kind[] = ['lab', 'node', 'link', 'file', 'drawing'];

/** `a lab, 2 nodes, 1 link` */
function figures(changes: readonly Change[]): string {
  return KINDS.flatMap((kind) => {
    const { length } = changes.filter((change) => change.kind === kind);
    return length === 0 ? [] : [kind === 'lab' ? 'the lab' : counted(length, kind)];
  }).join(', ');
}

/** `to create: the lab, 2 nodes, 2 files; to change: 1 node (1 with a restart); to delete: 1 link` */
export function summaryText(changes: readonly Change[]): string {
  const isNew = ({ action, waits }: Change): boolean => action === 'create' || (action === 'write' && waits === true);
  const isChange = (change: Change): boolean => ['open', 'change', 'write'].includes(change.action) && !isNew(change);
  const restarts = changes.filter(({ restart }) => restart).length;
  const parts = [
    ['create', changes.filter(isNew)],
    ['change', changes.filter(isChange)],
    ['create again', changes.filter(({ action }) => action === 'replace')],
    ['delete', changes.filter(({ action }) => action === 'delete')],
  ] as const;
  const said = parts.flatMap(([what, some]) => (some.length === 0 ? [] : [`to ${what}: ${figures(some)}`]));
  const restarting = restarts > 0 ? ` (${restarts} with a restart)` : '';
  return said.map((one) => (one.startsWith('to change') ? one + restarting : one)).join('; ') || 'nothing to do';
}

/** Wraps the text at spaces to the terminal's width. */
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
