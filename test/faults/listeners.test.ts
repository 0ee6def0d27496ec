// A hundred listeners of notifications, a thousand events a second, and one listener that stops reading.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { StandIn } from '../controller/computes-stand-in.ts';
import { eventually, startDaemon } from '../system/daemon.ts';
import { Lab } from '../system/lab.ts';
import { bound, FULL, othersBeside, percentile, rig } from './rig.ts';

const LISTENERS = 100;
const FEW = 3;
const PER_SECOND = 1_000;
const SECONDS = FULL ? 20 : 3;
/** Events sent together, every few milliseconds. */
const BATCH = 10;
/** What a listener may leave unread before it is dropped: the server's queue, and what the sockets take. */
const PATIENCE = 200_000;

/** Milliseconds within which 99 of 100 events are at the other listeners. */
const LATE_MS = 250;

rig(
  { name: 'listeners', promise: 'a listener that stops reading is disconnected with the reason, and delays no other' },
  async (t) => {
    const daemon = await startDaemon(t);
    const lab = await Lab.create(daemon);
    const compute = await StandIn.start(t);
    await daemon.post('/v2/computes', compute.body());
    const url = `${daemon.url.replace('http', 'ws')}${lab.path}/notifications/ws`;
    const lags: number[] = [];
    const counts: number[] = [];
    const others: WebSocket[] = [];
    const open = async (): Promise<WebSocket> => {
      const socket = new WebSocket(url, { perMessageDeflate: false });
      t.after(() => socket.terminate());
      await once(socket, 'open');
      return socket;
    };
    const prefix = '"message":"event ';
    for (let index = 0; index < LISTENERS - 1; index++) {
      const socket = await open();
      others.push(socket);
      counts[index] = 0;
      socket.on('message', (data: Buffer) => {
        const at = data.indexOf(prefix);
        if (at === -1) return;
        counts[index]! += 1;
        lags.push(
          performance.now() -
            Number(data.toString('latin1', at + prefix.length, data.indexOf('"', at + prefix.length))),
        );
      });
    }
    const stalled = await open();
    let farewell = '';
    stalled.on('message', (data: Buffer) => {
      farewell = data.toString();
    });
    stalled.pause();

    let sent = 0;
    const send = async (): Promise<void> => {
      for (let index = 0; index < BATCH; index++) {
        const message = `event ${performance.now()}`;
        await compute.notify({ action: 'log.info', event: { message } });
        sent += 1;
      }
    };
    const load = othersBeside();
    const start = performance.now();
    while (sent < PER_SECOND * SECONDS) {
      await send();
      const due = start + (sent / PER_SECOND) * 1000;
      await sleep(Math.max(0, due - performance.now()));
    }
    const perSecond = Math.round(sent / ((performance.now() - start) / 1000));
    const measured = sent;
    const everybody = (): boolean => counts.every((count) => count === sent);
    await eventually('all events at all listeners', everybody);
    const lag = { median: percentile(lags, 0.5), p99: percentile(lags, 0.99) };
    lags.length = 0;
    const what = 'the same, 99th percentile';
    const late = await bound(t, { what, value: lag.p99, limit: LATE_MS, unit: 'ms', load });

    // On, until the server has given up the one that does not read: it says so in its own figures.
    const listening = async (): Promise<number> => {
      const { text } = await daemon.ask('GET', '/metrics');
      return Number(/^labwire_listeners\{bus="project"\} (\d+)$/m.exec(text)?.[1]);
    };
    assert.equal(await listening(), LISTENERS);
    // A few others are enough for that, and spare the time of the rest.
    for (const socket of others.splice(FEW)) socket.terminate();
    counts.length = FEW;
    await eventually('the others to have gone', listening, (count) => count === FEW + 1);
    while ((await listening()) === FEW + 1) {
      assert.ok(sent < PATIENCE, 'a listener that does not read is kept for ever');
      for (let batch = 0; batch < 100; batch++) await send();
      await eventually('all events at all listeners', everybody);
    }
    const closed = once(stalled, 'close');
    stalled.resume();
    const [code] = await closed;
    assert.equal(code, 1001);
    assert.match(farewell, /"log\.warning".*too slow/);
    assert.equal(await listening(), FEW);
    return [
      { what: 'listeners, one of them stalled', value: LISTENERS },
      { what: `events a second (${measured} in all)`, value: perSecond },
      { what: 'delay to the other listeners, median', value: `${lag.median.toFixed(1)} ms` },
      late,
      { what: 'events until the stalled one was disconnected', value: sent },
    ];
  },
);
