// A program that prints without end, and clients of its console that stop reading.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { Client } from '../consoles/harness.ts';
import { eventually, startDaemon } from '../system/daemon.ts';
import { Lab, missing } from '../system/lab.ts';
import { anonymousMebibytes } from '../system/processes.ts';
import { bound, FULL, othersBeside, percentile, rig } from './rig.ts';

const SECONDS = FULL ? 20 : 3;
/** Every 5 ms a line that says when it was printed (monotonic clock, microseconds), with so many characters behind it. */
const LINE = 10_000;
const PRINT = `setInterval(() => process.stdout.write('<' + process.hrtime.bigint() / 1000n + '>' + '.'.repeat(${LINE}) + '\\n'), 5)`;
/** Milliseconds until 99 of 100 lines have come. */
const LATE_MS = 100;
/** Anonymous memory that the daemon may take beyond what it has before, MiB. */
const MEMORY_MIB = 64;

/** Notes for each line how long it was on its way. */
class Stopwatch {
  readonly milliseconds: number[] = [];
  #rest = '';

  take(bytes: Buffer): void {
    const text = this.#rest + bytes.toString('latin1');
    const now = Number(process.hrtime.bigint() / 1000n);
    for (const [, stamp] of text.matchAll(/<(\d+)>/g)) this.milliseconds.push((now - Number(stamp)) / 1000);
    // A stamp may come in two parts.
    this.#rest = /<\d*$/.exec(text)?.[0] ?? '';
  }
}

rig(
  {
    name: 'consoles',
    promise:
      'a console client that stops reading is disconnected with the reason after ten seconds, and delays no other',
    skip: missing('vpcs'),
  },
  async (t) => {
    const daemon = await startDaemon(t);
    const lab = await Lab.create(daemon);
    const pc = await lab.pc('PC1');
    await lab.start(pc);
    const url = `${daemon.url.replace('http', 'ws')}${lab.path}/nodes/${pc.node_id}/console/ws`;
    const browser = async (): Promise<WebSocket> => {
      const socket = new WebSocket(url, { perMessageDeflate: false });
      t.after(() => socket.terminate());
      await once(socket, 'open');
      return socket;
    };
    const stopwatches: Stopwatch[] = [];
    const timed = (): Stopwatch => stopwatches[stopwatches.push(new Stopwatch()) - 1]!;
    const typist = await Client.open(t, pc.console);
    await typist.sees(/> $/);
    const [reader, page] = [await Client.open(t, pc.console), await browser()];
    const [readerTime, pageTime] = [timed(), timed()];
    reader.socket.removeAllListeners('data').on('data', (bytes) => readerTime.take(bytes));
    page.on('message', (bytes: Buffer) => pageTime.take(bytes));
    const [stalled, stalledPage] = [await Client.open(t, pc.console), await browser()];
    stalled.socket.pause();
    stalledPage.pause();

    const memory = anonymousMebibytes(daemon.pid);
    let peak = memory;
    const look = setInterval(() => {
      peak = Math.max(peak, anonymousMebibytes(daemon.pid));
    }, 20);
    t.after(() => clearInterval(look));
    writeFileSync(join(pc.node_directory, 'print.cjs'), PRINT);
    typist.send(`! exec ${process.execPath} print.cjs\r`);
    typist.socket.removeAllListeners('data').resume();
    const load = othersBeside();
    const begin = performance.now();
    const dropped = (kind: string): boolean =>
      new RegExp(`console client disconnected .*client="?${kind} .*nothing was read`).test(daemon.log);
    await eventually('the telnet client to be dropped', () => dropped('telnet'), Boolean, 60_000);
    const telnetDropped = performance.now() - begin;
    stalled.socket.resume();
    await eventually('the other client to be dropped', () => dropped('WebSocket'), Boolean, 60_000);
    const closed = once(stalledPage, 'close');
    stalledPage.resume();
    const [code, reason] = await closed;
    assert.deepEqual([code, /^too slow: /.test(reason)], [1013, true], String(reason));
    await stalled.ends();
    assert.match(stalled.text, /\[disconnected: too slow: nothing was read for 10 s\]\r\n$/);
    await sleep(Math.max(0, SECONDS * 1000 - (performance.now() - begin)));
    clearInterval(look);

    assert.deepEqual([reader.closed, page.readyState], [false, WebSocket.OPEN]);
    const seconds = (performance.now() - begin) / 1000;
    const lags = stopwatches.flatMap(({ milliseconds }) => milliseconds);
    assert.ok(readerTime.milliseconds.length > 100 && pageTime.milliseconds.length > 100);
    assert.ok(peak - memory < MEMORY_MIB, `${peak - memory} MiB`);
    const what = 'the same, 99th percentile';
    const late = await bound(t, { what, value: percentile(lags, 0.99), limit: LATE_MS, unit: 'ms', load });
    return [
      {
        what: 'bytes a second of each reading client',
        value: Math.round((readerTime.milliseconds.length * LINE) / seconds),
      },
      { what: 'delay from the program to reading clients, median', value: `${percentile(lags, 0.5).toFixed(1)} ms` },
      late,
      {
        what: 'until the first client that did not read was disconnected',
        value: `${(telnetDropped / 1000).toFixed(1)} s`,
      },
      { what: 'memory of the server for it, at most', value: `${Math.round(peak - memory)} MiB` },
    ];
  },
);
