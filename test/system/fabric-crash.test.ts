import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { pollerOf } from '../fabric/crashes.ts';
import { type Daemon, eventually, startDaemon } from './daemon.ts';
import { Lab } from './lab.ts';
import { Listener } from './notifications.ts';
import { UdpPeer } from './udp-peer.ts';

/**
 * Closes a descriptor of the daemon behind its back: by Node's debugger, which SIGUSR1 calls for every program on Node.
 * Answers false when another program has the debugger's port.
 */
async function closeBehindItsBack(t: TestContext, daemon: Daemon, descriptor: number): Promise<boolean> {
  process.kill(daemon.pid, 'SIGUSR1');
  const said = /Debugger listening on (ws:\S+)|Starting inspector on .* failed/;
  const [, address] = await eventually(
    'the debugger',
    () => said.exec(daemon.log) ?? [],
    ({ length }) => length > 0,
    20_000,
  );
  if (address === undefined) return false;
  const inspector = new WebSocket(address);
  await new Promise((resolve) => inspector.addEventListener('open', resolve, { once: true }));
  // The daemon waits for its debuggers when it ends.
  t.after(() => inspector.close());
  const done = new Promise((resolve) => inspector.addEventListener('message', resolve, { once: true }));
  const expression = `process.getBuiltinModule('node:fs').closeSync(${descriptor})`;
  inspector.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression } }));
  await done;
  inspector.close();
  return true;
}

test('a thread of the fabric that dies takes no lab with it: frames pass again, users are informed, the lab can be worked on', async (t) => {
  const daemon = await startDaemon(t);
  const lab = await Lab.create(daemon);
  const [near, far] = [await lab.hub('Near'), await lab.hub('Far')];
  await lab.link(near, far);
  const a = await UdpPeer.at(t, lab, 'ethernet_hub', near, 1);
  const b = await UdpPeer.at(t, lab, 'ethernet_hub', far, 1);
  const listener = await Listener.at(t, daemon, `${lab.path}/notifications`);
  /** Whether frames arrive, which are sent again and again: some of them may come too early. */
  const passes = (text: string) =>
    eventually(
      `the frame ${text}`,
      () => {
        a.send(text);
        return b.heard.some((frame) => String(frame) === text);
      },
      Boolean,
      20_000,
    );
  await passes('before the crash');

  const poller = pollerOf(a.lport, daemon.pid);
  if (!(await closeBehindItsBack(t, daemon, poller))) return t.skip("the port of Node's debugger is in use");
  a.send('this one wakes the thread, which cannot wait any more');
  const told = await eventually(
    'the message to the users',
    () => listener.messages.find(({ action }) => action === 'log.error'),
    Boolean,
    20_000,
  );
  assert.match(told!.event.message, /has crashed \(epoll.*EBADF.*\).*rebuilt within/);
  assert.match(daemon.log, /error .*crashed/);
  await passes('after the crash');

  const [link] = await lab.links();
  await daemon.delete(`${lab.path}/links/${link!.link_id}`);
  await lab.reopen();
  assert.deepEqual((await lab.nodes()).map(({ name }) => name).sort(), ['Far', 'Near']);
});
