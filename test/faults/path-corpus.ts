// Spellings of paths that lead, or pretend to lead, out of a directory: how they look in a request target or a JSON text.

/** Ways to write one step up, separator included. */
const STEPS = [
  ...['../', '..//', './../', '.././', '..\\', '..%5c', '..%5C', '%2e%2e/', '%2E%2E/', '.%2e/', '%2e./'],
  ...['..%2f', '..%2F', '%2e%2e%2f', '%2E%2E%2F', '%2e%2e%5c', '.%2e%2f'],
  ...['..%252f', '%252e%252e/', '%252e%252e%252f', '..%25252f', '%25%32%65%25%32%65%25%32%66'],
  ...[
    '..%c0%af',
    '%c0%ae%c0%ae/',
    '%c0%ae%c0%ae%c0%af',
    '%e0%80%ae%e0%80%ae%e0%80%af',
    '..%c1%9c',
    '%f0%80%80%ae%f0%80%80%ae/',
  ],
  ...[
    '....//',
    '....\\/',
    '..../',
    '.../',
    '..;/',
    '..;x=1/',
    '..%00/',
    '.%00./',
    '..%0a/',
    '..%0d%0a/',
    '..%09/',
    '..%20/',
    '.. /',
  ],
  ...[
    '%u002e%u002e/',
    '..%u2215',
    '..%ef%bc%8f',
    '%ef%bc%8e%ef%bc%8e/',
    '..%e2%88%95',
    '..\u2215',
    '\uff0e\uff0e/',
    '%uff0e%uff0e%u2215',
  ],
  ...['..?/', '..#/', '..%3f/', '..%23/', '..:/', '..%3a/', '..|/', '..*/', '"../"', "'../'", '~/../', '..~/'],
];

/** What stands before the first step. */
const STARTS = ['', 'a/', './', '/', '//', 'sub/', 'sub/../', '%2f', '%2e/', 'sub%2f'];

/** From a directory far below, more steps than needed end at the root. */
const DEPTHS = [1, 2, 3, 5, 12];

export interface Targets {
  /** Absolute path of a file outside that must not be read, and next to which nothing may be written. */
  canary: string;
  /** The directory that may be used; its parent holds `<name>-sibling/canary.txt`. */
  inside: string;
}

/** Links and special files that the test has put into `inside`, by their names there. */
export const PLANTED = [
  'link-to-file',
  'link-to-directory/canary.txt',
  'link-to-directory/new.txt',
  'link-to-root/etc/passwd',
  'link-to-link',
  'link-to-parent/canary.txt',
  'link-to-sibling/canary.txt',
  'link-to-proc/environ',
  'link-loop',
  'dangling',
  'dangling-directory/new.txt',
  'sub/link-up/../../canary.txt',
  'fifo',
  'socket',
  'hidden-link/./canary.txt',
] as const;

function absolute({ canary, inside }: Targets): string[] {
  const encoded = canary.replaceAll('/', '%2f');
  const name = inside.split('/').at(-1)!;
  const plain = [canary, `/${canary}`, `//${canary}`, `.${canary}`, `file://${canary}`, `file:${canary}`, encoded];
  const files = [
    '/etc/passwd',
    '/proc/self/environ',
    '/proc/self/root/etc/passwd',
    '/proc/self/cwd/labwire.db',
    '/dev/zero',
  ];
  const special = files.flatMap((file) => [file, file.replaceAll('/', '%2f'), `/${file}`, file.replaceAll('/', '//')]);
  const siblings = [
    `../${name}-sibling/canary.txt`,
    `..%2f${name}-sibling%2fcanary.txt`,
    `${inside}-sibling/canary.txt`,
  ];
  const insides = [`${inside}/../canary.txt`, `${inside}-sibling/../canary.txt`, `${inside.toUpperCase()}/canary.txt`];
  return [
    ...plain,
    ...special,
    ...siblings,
    ...insides,
    'C:\\windows\\win.ini',
    '\\\\host\\share\\x',
    '~root/x',
    '~/x',
    '$HOME/x',
    '`id`',
  ];
}

function awkward(): string[] {
  const long = 'n'.repeat(300);
  return [
    ...[
      '',
      '.',
      '..',
      '/',
      '//',
      '///',
      './',
      '../',
      '%2e',
      '%2e%2e',
      '%2f',
      '%00',
      'a%00',
      'a%00.txt',
      '%00/../a',
      'a%',
      'a%2',
      'a%zz',
    ],
    ...[
      '%',
      '%%',
      '%ff',
      '%c3%28',
      '%ed%a0%80',
      'a\\b',
      'a%5cb',
      'CON',
      'NUL.txt',
      'a/',
      'a//b',
      'a/./b',
      ' ',
      '%20',
      '%0a',
      '%7f',
      '*',
      '?',
      '-rf',
    ],
    ...[long, `${long}/${long}`, `${'d/'.repeat(2_000)}f`, `${'../'.repeat(2_000)}etc/passwd`, 'p'.repeat(5_000)],
    ...['Sub/FILE.TXT', 'SUB/file.txt', '.LABWIRE', 'sub/file.txt/', 'sub/file.txt/x', 'sub/file.txt/../file.txt'],
  ];
}

/** All spellings, each once. */
export function spellings(targets: Targets): string[] {
  const rest = targets.canary.slice(1);
  const climbing = STEPS.flatMap((step, index) =>
    DEPTHS.map((depth, at) => `${STARTS[(index + at * 3) % STARTS.length]}${step.repeat(depth)}`).flatMap((up, at) => [
      // Shallow ones meet the file that lies above; deep ones start at the root.
      `${up}${DEPTHS[at]! < 12 ? 'canary.txt' : rest}`,
      `${up}${DEPTHS[at]! < 12 ? `new-${index}-${at}.txt` : `${rest}.new`}`,
    ]),
  );
  return [...new Set([...PLANTED, ...absolute(targets), ...awkward(), ...climbing])];
}
