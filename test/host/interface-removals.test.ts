import assert from 'node:assert/strict';
import { fstatSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Relay, removeElsewhere } from '../../src/host/network/interface-removals.ts';
import { findLink, getLink, links, removeLink } from '../../src/host/network/kernel-interfaces.ts';
import { NodeNetwork } from '../../src/host/network/node-network.ts';
import { inNetworkOf, inNetworkOfAny, makeProgramTap, networkNamespace } from '../../src/host/system-calls.ts';
import { cannotMakeInterfaces, ip, removeAfter, uniqueName } from '../fabric/namespaces.ts';
import { judge, OtherLoad } from '../other-load.ts';

const COUNT = 24;

function makeRelay(network?: number): Relay & { name: string } {
  const name = uniqueName();
  return inNetworkOfAny(network, () => {
    const descriptor = makeProgramTap(name);
    return { name, descriptor, index: getLink(name).index, network, namespace: networkNamespace() };
  });
}

/** Returns a process with a network namespace of its own. */
function makeNetwork(t: TestContext): number {
  const directory = mkdtempSync(join(tmpdir(), 'labwire-network-'));
  const nodes = new NodeNetwork(directory, 'relays', true);
  t.after(() => {
    nodes.close();
    rmSync(directory, { recursive: true });
  });
  return nodes.open()!;
}

async function millisecondsOf(task: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await task();
  return performance.now() - began;
}

test('relays are removed together, in the time of a few', { skip: cannotMakeInterfaces }, async (t) => {
  const other = uniqueName();
  removeAfter(t, other);
  await ip('link', 'add', other, 'type', 'bridge');
  const all = Array.from({ length: 2 * COUNT }, () => makeRelay());
  const [single, joint] = [all.slice(COUNT), all.slice(0, COUNT)];
  const load = new OtherLoad();
  const alone = await millisecondsOf(async () => {
    for (const relay of single) await removeElsewhere(relay);
  });
  const together = await millisecondsOf(() => Promise.all(joint.map(removeElsewhere)));
  t.diagnostic(`${COUNT} relays: alone ${alone.toFixed(0)} ms, together ${together.toFixed(0)} ms`);
  for (const { name, descriptor } of all) {
    assert.equal(findLink(name), undefined);
    assert.throws(() => fstatSync(descriptor), { code: 'EBADF' });
  }
  assert.ok(findLink(other));
  await judge(t, { what: `${COUNT} relays together`, value: together, limit: alone / 3, unit: 'ms', load });
});

test('relays of several network namespaces are removed, also if one is gone', {
  skip: cannotMakeInterfaces,
}, async (t) => {
  const network = makeNetwork(t);
  const [here, there, gone] = [makeRelay(), makeRelay(network), makeRelay(network)];
  inNetworkOf(network, () => removeLink(gone.name));
  const ended = { ...makeRelay(), network: 2 ** 22 };
  await Promise.all([here, there, gone, ended].map(removeElsewhere));
  assert.equal(findLink(here.name), undefined);
  assert.equal(findLink(ended.name), undefined, 'its last descriptor is closed');
  assert.deepEqual(
    inNetworkOf(network, links).map(({ name }) => name),
    ['lo'],
  );
});

test('an interface with the same index in another network namespace stays when the id of the process is reused', {
  skip: cannotMakeInterfaces,
}, async (t) => {
  const [first, second] = [makeNetwork(t), makeNetwork(t)];
  const [relay, other] = [makeRelay(first), makeRelay(second)];
  assert.equal(relay.index, other.index);
  await removeElsewhere({ ...relay, network: second });
  assert.ok(inNetworkOf(second, () => findLink(other.name)));
  assert.equal(
    inNetworkOf(first, () => findLink(relay.name)),
    undefined,
    'its last descriptor is closed',
  );
  await removeElsewhere(other);
});
