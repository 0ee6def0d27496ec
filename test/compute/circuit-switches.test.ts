import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { freePort } from '../fabric/peers.ts';
import { type Lab, startLab } from './support.ts';

async function started(t: TestContext, type: string, mappings: object): Promise<{ lab: Lab; node: string }> {
  const lab = await startLab(t);
  return { lab, node: await lab.node(await lab.project(), type, { name: 'S1', mappings }) };
}

/** A frame of a DLCI below 16 × 64. */
const relayed = (dlci: number, text: string): Buffer =>
  Buffer.concat([Buffer.from([(dlci >> 4) << 2, ((dlci & 15) << 4) | 1]), Buffer.from(text)]);

test('a Frame Relay switch joins the ports of its mappings, in both directions', async (t) => {
  const { lab, node } = await started(t, 'frame_relay_switch', { '1:101': '10:202' });
  const [one, ten] = [await lab.peer(t, node, 1), await lab.peer(t, node, 10)];
  await one.send(relayed(101, 'there'));
  assert.deepEqual(await ten.peer.take(1), [relayed(202, 'there')]);
  await ten.send(relayed(202, 'and back'));
  assert.deepEqual(await one.peer.take(1), [relayed(101, 'and back')]);
});

test('new mappings take effect at once where cables are plugged in', async (t) => {
  const { lab, node } = await started(t, 'frame_relay_switch', { '1:101': '2:202' });
  const [one, two] = [await lab.peer(t, node, 1), await lab.peer(t, node, 2)];
  const changed = await lab.expect(200, 'PUT', node, { name: 'S2', mappings: { '2:300': '1:101' } });
  assert.deepEqual([changed.name, changed.mappings], ['S2', { '2:300': '1:101' }]);
  await one.send(relayed(101, 'elsewhere'));
  assert.deepEqual(await two.peer.take(1), [relayed(300, 'elsewhere')]);
  const refused = await lab.expect(409, 'PUT', node, { mappings: { '1:101': '2:2000' } });
  assert.match(
    refused.message,
    /mappings: "1:101": "2:2000" is no circuit; write each end of a circuit as "<port>:<DLCI>"/,
  );
  assert.deepEqual((await lab.expect(200, 'GET', node)).mappings, { '2:300': '1:101' });
});

const BAD: [string, object, RegExp][] = [
  ['frame_relay_switch', { a: 'b' }, /mappings: "a": "b" is no circuit/],
  ['frame_relay_switch', { '1:101': 7 }, /mappings: "1:101": 7 is no circuit/],
  ['frame_relay_switch', { '1:0': '2:5' }, /with a DLCI from 1 to 1022/],
  ['frame_relay_switch', { '1:1023': '2:5' }, /is no circuit/],
  [
    'frame_relay_switch',
    { '1:101': '2:202', '3:303': '1:101' },
    /"3:303": "1:101" has an end that another circuit has already/,
  ],
  ['frame_relay_switch', { '1:101': '1:101' }, /another circuit/],
  ['atm_switch', { '1:10': '2:10:100' }, /"<port>:<VPI>:<VCI>" at both ends of a channel/],
  ['atm_switch', { '1:4096': '2:10' }, /is no circuit/],
  ['atm_switch', { '1:1:65536': '2:1:1' }, /is no circuit/],
  ['atm_switch', { '1:10:100': '2:10:100', '2:10:100': '3:1:1' }, /another circuit/],
];

for (const [type, mappings, message] of BAD) {
  test(`${type}: ${JSON.stringify(mappings)} is stored, and refused by name when something is plugged in`, async (t) => {
    const { lab, node } = await started(t, type, mappings);
    assert.deepEqual((await lab.expect(200, 'GET', node)).mappings, mappings);
    const nio = { type: 'nio_udp', lport: await freePort(), rhost: '127.0.0.1', rport: 9 };
    const refused = await lab.expect(409, 'POST', `${node}/adapters/0/ports/1/nio`, nio);
    assert.match(refused.message, message);
    assert.equal(refused.exception, 'DynamipsError');
    await lab.expect(200, 'PUT', node, { mappings: {} });
    await lab.expect(201, 'POST', `${node}/adapters/0/ports/1/nio`, nio);
  });
}

test('an ATM switch joins paths and channels of its mappings', async (t) => {
  const { lab, node } = await started(t, 'atm_switch', { '1:10:100': '2:10:200', '1:20': '3:21' });
  const [one, two, three] = [await lab.peer(t, node, 1), await lab.peer(t, node, 2), await lab.peer(t, node, 3)];
  const cell = (header: string, text: string): Buffer => {
    const bytes = Buffer.alloc(53);
    bytes.write(header, 'hex');
    bytes.write(text, 5);
    return bytes;
  };
  // VPI 10 and VCI 100, VPI 20 and VCI 5; then 10 and 200, 21 and 5; the last byte is the checksum (ITU-T I.432.1).
  await one.send(cell('00a0064000', 'channel'), cell('0140005000', 'path'));
  assert.equal((await two.peer.take(1))[0]!.subarray(0, 4).toString('hex'), '00a00c80');
  assert.equal((await three.peer.take(1))[0]!.subarray(0, 4).toString('hex'), '01500050');
});
