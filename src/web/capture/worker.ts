// The worker of one capture: it reads the socket, keeps what fits, and decodes what is looked at.
import { openSocket } from '../model/sockets.ts';
import { decode } from './decode/decode.ts';
import { BadFilter, filterOf } from './filter.ts';
import { FrameReader } from './frames.ts';
import type { CaptureState, FromWorker, ServerFigures, ToWorker } from './messages.ts';
import { Ring } from './ring.ts';
import { Rows } from './rows.ts';

const TELLING_MS = 150;
const PAUSE_MS = 2000;
/** The server closes so when a capture has ended. */
const ENDED = 1000;

let ring = new Ring();
let rows = new Rows(ring);
let reader = new FrameReader();
let filter: ReturnType<typeof filterOf>;
/** Of the capture's socket, below `/v2`, and the query of its opening. */
let source: { path: string; query: Readonly<Record<string, string>> };
let isTelling = false;
let isLooking = false;
const state: CaptureState = {
  connection: 'connecting',
  reason: '',
  received: 0,
  kept: 0,
  shown: 0,
  gone: 0,
  generation: 0,
  server: undefined,
};

const tell = (message: FromWorker): void => postMessage(message);

function tellState(): void {
  isTelling = false;
  Object.assign(state, { received: ring.last, kept: ring.size, shown: rows.shown, gone: rows.gone });
  tell({ kind: 'state', state });
}

function changed(): void {
  if (isTelling) return;
  isTelling = true;
  setTimeout(tellState, TELLING_MS);
}

/** Filters what has come, a little at a time. */
function look(): void {
  isLooking = false;
  if (rows.look()) lookSoon();
  changed();
}

function lookSoon(): void {
  if (isLooking) return;
  isLooking = true;
  setTimeout(look, 0);
}

async function connect(): Promise<void> {
  ring = new Ring();
  rows = new Rows(ring);
  rows.filter(filter);
  reader = new FrameReader();
  state.generation += 1;
  state.connection = 'connecting';
  const socket = await openSocket(source.path, source.query).catch(() => undefined);
  if (!socket) {
    lost('');
    return;
  }
  state.connection = 'open';
  changed();
  socket.onmessage = ({ data }) => {
    if (typeof data === 'string') {
      state.server = JSON.parse(data) as ServerFigures;
      changed();
      return;
    }
    try {
      ring.push(reader.push(new Uint8Array(data as ArrayBuffer)));
    } catch (error) {
      state.connection = 'ended';
      state.reason = error instanceof Error ? error.message : String(error);
      socket.onclose = null;
      socket.close();
    }
    lookSoon();
  };
  socket.onclose = ({ code, reason }) => {
    if (code !== ENDED) return lost(reason);
    state.connection = 'ended';
    state.reason = reason;
    changed();
  };
}

/** Tries again a little later. */
function lost(reason: string): void {
  state.connection = 'lost';
  state.reason = reason;
  changed();
  setTimeout(() => void connect(), PAUSE_MS);
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
  state.generation += 1;
  lookSoon();
}

function sendFrame(number: number): void {
  const frame = ring.get(number);
  if (!frame) {
    tell({ kind: 'frame', frame: undefined });
    return;
  }
  const { layers } = decode(frame.bytes, frame.link);
  // A copy: the frame shares its memory with others.
  const bytes = frame.bytes.slice();
  tell({ kind: 'frame', frame: { number, time: rows.timeOf(frame), length: frame.length, bytes, layers } });
}

self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if (data.kind === 'open') {
    source = data;
    void connect();
  } else if (data.kind === 'filter') setFilter(data.text);
  else if (data.kind === 'frame') sendFrame(data.number);
  else tell({ kind: 'rows', from: data.from, generation: state.generation, rows: rows.get(data.from, data.count) });
};
