// The worker of a list: reads the sockets of its captures, keeps what fits, and decodes what is shown.
import { BadFilter, filterOf } from './filter.ts';
import type { Clock, Frame } from './frames.ts';
import { Merger } from './merger.ts';
import type { CaptureState, FromWorker, ServerFigures, SourceAddress, ToWorker } from './messages.ts';
import { Ring } from './ring.ts';
import { Rows } from './rows.ts';
import { Source } from './source.ts';
import { Follower } from './streams/follower.ts';

const TELLING_MS = 150;
/** Pause between frames that come late, as a filter begins again with each. */
const LATE_MS = 1000;
/** A growing stream is sent as a whole each time. */
const STREAM_TELLING_MS = 500;

const clock: Clock = {};
const sources: Source[] = [];
/** Their names; of links between the same nodes the further ones are numbered. */
const names: string[] = [];
const merger = new Merger();
const ring = new Ring();
const rows = new Rows(ring, (source) => (sources.length > 1 ? (names[source] ?? '') : ''));
let filter: ReturnType<typeof filterOf>;
/** The frame whose details are shown, and the number that they show. */
let chosen: Frame | undefined;
let chosenNumber = 0;
let follower: Follower | undefined;
let followed: Frame | undefined;
let generation = 0;
let mergePause = TELLING_MS;
const due = new Set<() => void>();

const tell = (message: FromWorker): void => postMessage(message);

/** Runs the work once after a pause, however often it is called. */
function soon(work: () => void, milliseconds: number): void {
  if (due.has(work)) return;
  due.add(work);
  setTimeout(() => {
    due.delete(work);
    work();
  }, milliseconds);
}

function tellState(): void {
  const [open, lost] = [sources.some(isOpen), sources.find(({ connection }) => connection === 'lost')];
  const connection = lost ? 'lost' : open ? 'open' : (sources[0]?.connection ?? 'connecting');
  const state: CaptureState = {
    connection,
    reason: (lost ?? (open ? undefined : sources[0]))?.reason ?? '',
    received: ring.last,
    kept: ring.size,
    shown: rows.shown,
    gone: rows.gone,
    generation,
    server: figures(),
    sources: sources.map(({ connection }, index) => ({ name: names[index]!, connection })),
  };
  tell({ kind: 'state', state });
}

const isOpen = ({ connection }: Source): boolean => connection === 'open' || connection === 'connecting';

/** Sum over all captures. */
function figures(): ServerFigures | undefined {
  const told = sources.flatMap(({ server }) => server ?? []);
  if (told.length === 0) return undefined;
  const sum = (key: keyof ServerFigures): number => told.reduce((total, each) => total + each[key], 0);
  return {
    frames: sum('frames'),
    bytes: sum('bytes'),
    drops: sum('drops'),
    filtered: sum('filtered'),
    skipped_bytes: sum('skipped_bytes'),
  };
}

const changed = (): void => soon(tellState, TELLING_MS);

/** Filters new frames in small steps. */
function look(): void {
  if (rows.look()) soon(look, 0);
  changed();
}

/** The row indexes have changed. */
function renumbered(): void {
  rows.filter(filter);
  generation += 1;
  if (chosen && chosen.number !== chosenNumber) soon(sendChosen, TELLING_MS);
  if (followed) follow(followed);
}

/** Moves merged frames into the ring. */
function merge(): void {
  const frames = merger.take(performance.now());
  if (!merger.isEmpty) soon(merge, mergePause);
  if (frames.length === 0) return;
  const isLate = sources.length > 1 && ring.insert(frames);
  if (sources.length === 1) ring.push(frames);
  if (isLate) renumbered();
  mergePause = isLate && filter ? LATE_MS : TELLING_MS;
  soon(look, 0);
  if (follower) soon(readStream, 0);
}

function open(addresses: readonly SourceAddress[]): void {
  for (const address of addresses) {
    const known = sources.find((source) => source.address.path === address.path);
    if (known) {
      known.again(address.start);
      continue;
    }
    const number = sources.length;
    const isSecond = number === 1;
    const { name } = address;
    const same = sources.filter((source) => source.address.name === name).length;
    names.push(same === 0 ? name : `${name} (${same + 1})`);
    sources.push(
      new Source(address, number, clock, {
        begun: () => begun(number),
        frames: (frames) => {
          merger.add(number, frames, performance.now());
          // Together, as each frame that comes late renumbers the others.
          if (sources.length > 1) soon(merge, mergePause);
          else merge();
        },
        changed: () => {
          const source = sources[number];
          if (source && !isOpen(source)) merger.leave(number);
          changed();
        },
      }),
    );
    // With a second capture, rows show the names of their captures.
    if (isSecond) renumbered();
  }
  changed();
}

function begun(source: number): void {
  merger.expect(source, performance.now());
  ring.forget(source);
  // The shown stream stays but no longer grows, because its frames come again.
  if (followed?.source === source) followed = follower = undefined;
  renumbered();
  changed();
}

function setFilter(text: string): void {
  try {
    filter = filterOf(text);
  } catch (error) {
    if (!(error instanceof BadFilter)) throw error;
    tell({ kind: 'filter', message: error.message });
    return;
  }
  tell({ kind: 'filter', message: '' });
  rows.filter(filter);
  generation += 1;
  soon(look, 0);
}

/** The frame with this id; also one that the ring has dropped since it was chosen. */
function find(id: number | undefined): Frame | undefined {
  if (id === undefined) return undefined;
  return chosen?.id === id ? chosen : ring.find(id);
}

function sendChosen(): void {
  if (!chosen) {
    tell({ kind: 'frame', frame: undefined });
    return;
  }
  const { id, number, length } = chosen;
  chosenNumber = number;
  const { layers, segment } = rows.packetOf(chosen);
  // A copy, because the frame shares its memory with others.
  const bytes = chosen.bytes.slice();
  const hasStream = segment !== undefined;
  tell({ kind: 'frame', frame: { id, number, time: rows.timeOf(chosen), length, bytes, layers, hasStream } });
}

function follow(frame: Frame | undefined): void {
  follower = frame && new Follower(ring, frame);
  followed = frame;
  if (follower) soon(readStream, 0);
}

function readStream(): void {
  if (follower?.look()) soon(readStream, 0);
  soon(tellStream, STREAM_TELLING_MS);
}

function tellStream(): void {
  if (follower) tell({ kind: 'stream', stream: follower.stream });
}

self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if (data.kind === 'open') open(data.sources);
  else if (data.kind === 'filter') setFilter(data.text);
  else if (data.kind === 'frame') {
    chosen = find(data.id);
    sendChosen();
  } else if (data.kind === 'stream') follow(find(data.id));
  else tell({ kind: 'rows', from: data.from, generation, rows: rows.get(data.from, data.count) });
};
