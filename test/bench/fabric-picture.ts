// The picture of the fabric benchmark: our way of a frame beside the way with a process at each end of a cable.

import type { Figures, Path } from './fabric.ts';

const WIDTH = 860;
const FONT = 'font-family="system-ui, sans-serif"';
const OURS = '#1769aa';
const OTHERS = '#8a8f98';
const INK = '#24292f';

function text(
  x: number,
  y: number,
  words: string,
  { size = 13, anchor = 'start', fill = INK, weight = 400 } = {},
): string {
  const escaped = words.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${x}" y="${y}" ${FONT} font-size="${size}" text-anchor="${anchor}" fill="${fill}" font-weight="${weight}">${escaped}</text>`;
}

function box(x: number, y: number, width: number, lines: string[], fill: string): string {
  const label = lines.map((line, index) =>
    text(x + width / 2, y + 26 + (index - (lines.length - 1) / 2) * 15, line, {
      size: 12,
      anchor: 'middle',
      fill: '#fff',
    }),
  );
  return `<rect x="${x}" y="${y}" width="${width}" height="44" rx="6" fill="${fill}"/>${label.join('')}`;
}

function arrow(from: number, to: number, y: number, word: string): string {
  const line = `<line x1="${from}" y1="${y}" x2="${to - 5}" y2="${y}" stroke="${INK}" stroke-width="1.5" marker-end="url(#tip)"/>`;
  return line + text((from + to) / 2, y - 7, word, { size: 11, anchor: 'middle' });
}

/** Boxes from left to right, with what takes the frame from one to the next. */
function way(y: number, title: string, parts: [string[], string][], hops: string[]): string {
  const gap = 64;
  const width = (WIDTH - 40 - gap * (parts.length - 1)) / parts.length;
  const left = (index: number): number => 20 + index * (width + gap);
  return [
    text(20, y - 14, title, { size: 14, weight: 600 }),
    ...parts.map(([lines, fill], index) => box(left(index), y, width, lines, fill)),
    ...hops.map((word, index) => arrow(left(index) + width + 2, left(index + 1) - 2, y + 22, word)),
  ].join('\n');
}

interface Bar {
  title: string;
  value: number;
  fill: string;
}

function bars(x: number, y: number, title: string, list: Bar[], shown: (value: number) => string): string {
  const labels = 190;
  const room = (WIDTH - 60) / 2 - labels - 70;
  const most = Math.max(...list.map(({ value }) => value));
  return [
    text(x, y, title, { size: 14, weight: 600 }),
    ...list.flatMap((bar, index) => {
      const top = y + 14 + index * 24;
      const width = Math.max(2, (bar.value / most) * room);
      return [
        text(x + labels - 8, top + 13, bar.title, { size: 12, anchor: 'end' }),
        `<rect x="${x + labels}" y="${top}" width="${width.toFixed(1)}" height="17" rx="2" fill="${bar.fill}"/>`,
        text(x + labels + width + 6, top + 13, shown(bar.value), { size: 12 }),
      ];
    }),
  ].join('\n');
}

/** An SVG of the medians; `machine` says where they were measured. */
export function picture(medians: ReadonlyMap<Path, Figures>, machine: string): string {
  // Rows with something between the programs, or with the kernel's bridge, which is nobody's process.
  const rows = [...medians].filter(
    ([{ shape, hosts, capture }]) => capture === undefined && (shape !== 'nothing' || hosts),
  );
  const fillOf = ({ shape }: Path): string => (['relay', 'relays', 'nothing'].includes(shape) ? OTHERS : OURS);
  const bar = ([path, figures]: [Path, Figures], name: keyof Figures): Bar => ({
    title: path.title,
    value: figures[name],
    fill: fillOf(path),
  });
  const top = 232;
  const height = top + 14 + rows.length * 24 + 62;
  const column = (WIDTH + 20) / 2;
  const costs = rows.filter(([{ shape }]) => shape !== 'nothing');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}">
<defs><marker id="tip" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="${INK}"/></marker></defs>
<rect width="${WIDTH}" height="${height}" fill="#fff"/>
${way(
  42,
  'Labwire: one thread for all cables of a lab, frames by the batch, both ends of a cable in memory',
  [
    [['emulator'], INK],
    [['labwired', 'recvmmsg → memory → sendmmsg'], OURS],
    [['emulator'], INK],
  ],
  ['UDP', 'UDP'],
)}
${way(
  140,
  'A process at each end of every cable: each frame by itself, over three UDP hops',
  [
    [['emulator'], INK],
    [['process', 'recv → send'], OTHERS],
    [['process', 'recv → send'], OTHERS],
    [['emulator'], INK],
  ],
  ['UDP', 'UDP', 'UDP'],
)}
${bars(
  20,
  top,
  'Frames a second, flooded',
  rows.map((row) => bar(row, 'flood')),
  (value) => `${Math.round(value / 1000)} k`,
)}
${bars(
  column,
  top,
  'CPU time for each, µs',
  costs.map((row) => bar(row, 'floodCost')),
  (value) => value.toFixed(1),
)}
${text(20, height - 34, 'Frames of 1,000 bytes, medians of one run; those that arrived. The CPU time is that of what lies between the two programs.', { size: 11 })}
${text(20, height - 16, `${machine}. Drawn by: npm run bench -- --only fabric --svg docs/fabric.svg`, { size: 11 })}
</svg>
`;
}
