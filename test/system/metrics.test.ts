// The figures of a lab that runs: what passed, what did not, who looks on.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from '../consoles/harness.ts';
import { type Daemon, eventually, startDaemon } from './daemon.ts';
import { Lab } from './lab.ts';
import { ping, pingIsAnswered } from './survivors.ts';

async function figures(daemon: Daemon): Promise<Map<string, number>> {
  const { text } = await daemon.ask('GET', '/metrics');
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

test('/metrics counts frames, drops, captures and looks at consoles, and forgets nothing that is closed', async (t) => {
  const daemon = await startDaemon(t, { config: '[VPCS]\nengine = built-in\n' });
  const lab = await Lab.create(daemon);
  const { pcs, links } = await lab.pcsOnHub(2);
  const link = `${lab.path}/links/${links[0]!.link_id}`;
  const quiet = await figures(daemon);
  assert.deepEqual([quiet.get('labwire_captures'), quiet.get('labwire_programs')], [0, 0]);
  await daemon.post(`${link}/start_capture`, { capture_file_name: 'a.pcap' });
  await pingIsAnswered(lab, pcs[0]!, '10.0.0.2');
  const client = await Client.open(t, pcs[1]!.console);
  await client.sees(/> $/);
  const busy = await figures(daemon);
  // Both ask and answer who has the address, and the echo: each frame leaves a PC, and the hub.
  const grown = (name: string): number => busy.get(name)! - quiet.get(name)!;
  assert.ok(grown('labwire_frames_total{direction="sent"}') >= 8);
  assert.ok(grown('labwire_frames_total{direction="received"}') >= 8);
  assert.ok(grown('labwire_bytes_total{direction="sent"}') >= 8 * 42);
  assert.equal(busy.get('labwire_captures'), 1);
  assert.equal(busy.get('labwire_console_clients'), 1);
  assert.ok(busy.get('labwire_capture_frames_total')! >= 4);
  assert.equal(busy.get('labwire_capture_drops_total'), 0);

  await daemon.put(link, { filters: { packet_loss: [100] } });
  assert.match(await ping(pcs[0]!, '10.0.0.2'), /timeout|not reachable/);
  assert.ok((await figures(daemon)).get('labwire_drops_total{reason="packet_loss"}')! > 0);
  client.socket.destroy();
  const before = await figures(daemon);
  await daemon.post(`${lab.path}/close`);
  const after = await eventually(
    'the client to be gone',
    () => figures(daemon),
    (all) => all.get('labwire_console_clients') === 0,
  );
  for (const [name, value] of before) {
    if (!/^labwire_(frames|bytes|drops|capture_\w+)_total/.test(name)) continue;
    assert.ok(after.get(name)! >= value, name);
  }
  assert.equal(after.get('labwire_captures'), 0);
});
