import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { NameRelay, upstream } from '../../../src/compute/nat-network/name-relay.ts';

async function socket(t: TestContext): Promise<Socket> {
  const opened = createSocket('udp4').bind(0, '127.0.0.1');
  await once(opened, 'listening');
  t.after(() => opened.close());
  return opened;
}

/** A resolver that answers with what it was asked, marked as an answer; or not at all. */
async function resolver(t: TestContext, answers: boolean): Promise<{ address: string; asked: Buffer[] }> {
  const opened = await socket(t);
  const asked: Buffer[] = [];
  opened.on('message', (question, { port }) => {
    asked.push(question);
    const answer = Buffer.concat([question, Buffer.from('the answer')]);
    answer.writeUInt16BE(0x8180, 2);
    if (answers) opened.send(answer, port, '127.0.0.1');
  });
  return { address: `127.0.0.1:${opened.address().port}`, asked };
}

const QUESTION = Buffer.concat([
  Buffer.from('123401000001000000000000', 'hex'),
  Buffer.from('\x03far\0\0\x01\0\x01', 'latin1'),
]);

async function ask(t: TestContext, relay: NameRelay): Promise<Buffer> {
  const client = await socket(t);
  const port = await relay.start('127.0.0.1');
  t.after(() => relay.stop());
  const answered = once(client, 'message');
  client.send(QUESTION, port, '127.0.0.1');
  return (await answered)[0] as Buffer;
}

test("a question goes to the host's resolver under another number, and its answer comes back under its own", async (t) => {
  const { address, asked } = await resolver(t, true);
  const answer = await ask(t, new NameRelay(() => [address, address, address]));
  assert.deepEqual([answer.readUInt16BE(0), answer.subarray(-10).toString()], [0x1234, 'the answer']);
  assert.deepEqual(asked[0]!.subarray(2), QUESTION.subarray(2));
});

test('where one resolver is silent the next one is asked', async (t) => {
  const [silent, other] = [await resolver(t, false), await resolver(t, true)];
  const answer = await ask(t, new NameRelay(() => [silent.address, other.address, other.address, other.address]));
  assert.equal(answer.subarray(-10).toString(), 'the answer');
  assert.equal(silent.asked.length, 1);
});

test('without a resolver that answers, the node gets an error and need not wait', async (t) => {
  const answer = await ask(t, new NameRelay(() => []));
  assert.deepEqual([answer.readUInt16BE(0), answer.readUInt16BE(2) & 0x800f], [0x1234, 0x8002]);
});

test('resolvers are understood in every form in which a host names them', () => {
  assert.deepEqual(['192.0.2.1', '192.0.2.1:5353', '2001:db8::1', '[2001:db8::1]:5353', '::1'].map(upstream), [
    { host: '192.0.2.1', port: 53 },
    { host: '192.0.2.1', port: 5353 },
    { host: '2001:db8::1', port: 53 },
    { host: '2001:db8::1', port: 5353 },
    { host: '::1', port: 53 },
  ]);
});
