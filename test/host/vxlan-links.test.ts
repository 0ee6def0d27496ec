// Links by VXLAN of one host alone; those of two hosts are in test/system/vxlan-links.test.ts.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { NodeNetwork, nodeNetworkUnavailable } from '../../src/host/network/node-network.ts';
import { VxlanLinks } from '../../src/host/network/vxlan-links.ts';

const PORT = 14_789;

test('a server does not take its own answer for that of another server at the same address', {
  skip: nodeNetworkUnavailable() ?? false,
}, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'labwire-vxlan-'));
  const network = new NodeNetwork(directory, 'test', true);
  const links = new VxlanLinks(network, PORT);
  t.after(() => {
    links.stop();
    network.close();
    rmSync(directory, { recursive: true });
  });
  const [name, host] = ['lwt00000001-0', '127.0.0.1'];
  const link = { vni: 1, host, used: () => assert.fail('the link is used'), fragmented: () => {} };
  if (links.add(name, 'owner', link) === undefined) return t.skip('this kernel makes no VXLAN interfaces');
  // Longer than the first probes take.
  await sleep(3_000);
  assert.deepEqual([links.state(name)?.isUsed, /does not answer/.test(links.state(name)?.reason ?? '')], [false, true]);
});
