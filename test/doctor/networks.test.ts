// What the doctor says of the way out of labs.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import type { Check } from '../../src/doctor/check.ts';
import {
  allowedInterfaces,
  capabilities,
  forwarding,
  forwardPolicy,
  nat,
  tun,
  vxlan,
} from '../../src/doctor/networks.ts';
import { nodeNetworkUnavailable } from '../../src/host/network/node-network.ts';
import type { Verdict } from '../../src/host/values/check-result.ts';

function examine(t: TestContext, check: Check, keys: Record<string, string> = {}) {
  const home = mkdtempSync(join(tmpdir(), 'labwire-doctor-'));
  t.after(() => rmSync(home, { recursive: true }));
  const environment = Object.fromEntries(Object.entries(keys).map(([key, value]) => [`LABWIRE_SERVER_${key}`, value]));
  const loaded = loadConfig({ flags: [], environment, workingDirectory: home, home, state: home });
  return check.examine({ loaded, daemon: undefined, addonDirectory: undefined }) as Promise<Verdict | undefined>;
}

const NONE = { DEFAULT_NAT_INTERFACE: 'lw-none' };

test('with a bridge NAT is behind it; where that is not allowed the fix is reported; off is off', async (t) => {
  const bridge = { DEFAULT_NAT_INTERFACE: 'lo' };
  assert.deepEqual(await examine(t, nat, bridge), { state: 'ok', detail: 'behind the bridge lo' });
  const refused = await examine(t, nat, { ...bridge, ALLOWED_INTERFACES: 'eth9' });
  assert.deepEqual([refused?.state, refused?.fix], ['warning', 'add it to allowed_interfaces']);
  assert.match((await examine(t, nat, { ...NONE, NAT_NETWORK: 'off' }))?.detail ?? '', /nat_network is off/);
  for (const check of [forwarding, forwardPolicy]) assert.equal(await examine(t, check, bridge), undefined);
});

test('without a bridge NAT has a network, or the missing parts are reported with the fix', async (t) => {
  const verdict = await examine(t, nat, NONE);
  if (verdict?.state === 'ok') assert.match(verdict.detail, /network of the server's own, 192\.168\.\d+\.0\/24/);
  else assert.match(verdict?.fix ?? '', /apt install nftables|interfaces\.conf|nat_subnet/);
});

test('the way of links to other hosts is named, and why it is UDP', async (t) => {
  const detail = async (keys = {}) => (await examine(t, vxlan, keys))?.detail ?? '';
  assert.match(
    await detail({ VXLAN_PORT: '0' }),
    /^by UDP sockets of the server: vxlan_port in section \[Server\] is 0$/,
  );
  assert.match(await detail({ KERNEL_LINKS: 'off' }), /^by UDP .*kernel_links/);
  if (nodeNetworkUnavailable() !== undefined) return;
  assert.match(await detail(), /^plain links by VXLAN where the other host answers on UDP port 14789/);
  const socket = createSocket('udp4').bind(14_789);
  t.after(() => socket.close());
  await once(socket, 'listening');
  const verdict = await examine(t, vxlan);
  assert.deepEqual(
    [verdict?.state, verdict?.detail.split(':')[0]],
    ['warning', 'UDP port 14789 is taken by another program'],
  );
});

test('interfaces that are allowed and not there are named', async (t) => {
  const verdict = await examine(t, allowedInterfaces, { ALLOWED_INTERFACES: 'lo, lw-none, labwire-nat0' });
  assert.deepEqual([verdict?.state, verdict?.detail], ['warning', 'lw-none: not on this host']);
  assert.equal((await examine(t, allowedInterfaces, { ALLOWED_INTERFACES: 'lo' }))?.state, 'ok');
});

test('what clouds cannot do here is reported with the fix, and nothing of it stops the server', async (t) => {
  for (const check of [tun, capabilities, forwarding, forwardPolicy]) {
    const verdict = await examine(t, check, NONE);
    assert.notEqual(verdict?.state, 'missing');
    assert.equal(verdict?.state === 'warning', verdict?.fix !== undefined, check.subject);
  }
});
