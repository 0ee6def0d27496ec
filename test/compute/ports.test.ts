import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { PortPool } from '../../src/compute/ports/pool.ts';
import { startLab } from './support.ts';

/** A pool whose ports nobody else uses but the given ones. */
function pool(range: [number, number], foreign = new Set<number>(), avoided = new Set<number>()): PortPool {
  const bindable = async (port: number) => !foreign.has(port);
  return new PortPool({ range, purpose: 'test', keys: 'first and last', avoided, bindable });
}

async function listen(t: TestContext, port: number): Promise<void> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
}

test('ports are given away from the lowest, and again from the lowest that came back', async () => {
  const ports = pool([10, 20]);
  assert.deepEqual([await ports.reserve('a'), await ports.reserve('a'), await ports.reserve('b')], [10, 11, 12]);
  ports.release('a', 11);
  assert.deepEqual([await ports.reserve('b'), await ports.reserve('b')], [11, 13]);
});

test('a port that is asked for is given if it is free and in the range, else another one', async () => {
  const ports = pool([10, 20], new Set([15]), new Set([16]));
  for (const [wanted, given] of [
    [18, 18],
    [18, 10],
    [9, 11],
    [21, 12],
    [15, 13],
    [16, 16],
  ] as const) {
    assert.equal(await ports.reserve('a', wanted), given, `wanted ${wanted}`);
  }
});

test('ports of other programs and ports that browsers refuse are passed over', async () => {
  const foreign = new Set([10, 12]);
  const ports = pool([10, 14], foreign, new Set([11]));
  assert.equal(await ports.reserve('a'), 13);
  foreign.clear();
  assert.equal(await ports.reserve('a'), 10, 'what the other program gave back is lowest again');
});

test('two requests at once never get the same port', async () => {
  const ports = pool([1, 500]);
  const given = await Promise.all(Array.from({ length: 500 }, () => ports.reserve('a')));
  assert.equal(new Set(given).size, 500);
  await assert.rejects(ports.reserve('a'), {
    code: 'conflict',
    message: /No test port is free between 1 and 500.*first and last/,
  });
});

test('a project gives back its own ports and no others', async () => {
  const ports = pool([10, 20]);
  for (const owner of ['a', 'b', 'a', 'b']) await ports.reserve(owner);
  ports.release('b', 10);
  assert.deepEqual(ports.used, [10, 11, 12, 13], 'a port of somebody else is not given back');
  ports.releaseAll('a');
  assert.deepEqual(ports.used, [11, 13]);
});

test('finding a free port looks at few ports, however many are taken', async () => {
  let asked = 0;
  const bindable = async () => {
    asked += 1;
    return true;
  };
  const ports = new PortPool({ range: [1, 60_000], purpose: 'test', keys: '', bindable });
  for (let n = 0; n < 10_000; n += 1) await ports.reserve('a');
  assert.equal(asked, 10_000);
});

test('ports that others have cost nothing after the first time, and what was given back is given again first', async () => {
  const asked: number[] = [];
  const others = new Set(Array.from({ length: 2000 }, (_, index) => index + 1));
  const bindable = async (port: number) => {
    asked.push(port);
    return !others.has(port);
  };
  const ports = new PortPool({ range: [1, 2010], purpose: 'test', keys: '', passesOver: true, bindable });
  assert.equal(await ports.reserve('a'), 2001);
  asked.length = 0;
  assert.equal(await ports.reserve('a'), 2002);
  assert.equal(await ports.reserve('a'), 2003);
  ports.release('a', 2003);
  ports.release('a', 2002);
  assert.equal(await ports.reserve('a'), 2002);
  assert.equal(await ports.reserve('a', 2007), 2007);
  assert.equal(await ports.reserve('a'), 2003);
  assert.equal(await ports.reserve('a'), 2004);
  assert.deepEqual(asked, [2002, 2003, 2002, 2007, 2003, 2004]);
  // Somebody else takes one that was given back, and gives one free.
  ports.release('a', 2004);
  others.add(2004).delete(17);
  for (const port of [2005, 2006, 2008, 2009, 2010]) assert.equal(await ports.reserve('a'), port);
  assert.equal(await ports.reserve('a'), 17, 'when no other is left, all are looked at again');
  await assert.rejects(ports.reserve('a'), { code: 'conflict' });
  ports.release('a', 2010);
  assert.equal(await ports.reserve('a'), 2010);
});

test('a pool that passes ports over gives as many ports at once as it has', async () => {
  const ports = new PortPool({
    range: [1, 500],
    purpose: 'test',
    keys: '',
    passesOver: true,
    bindable: async () => true,
  });
  for (let round = 0; round < 2; round += 1) {
    const given = await Promise.all(Array.from({ length: 500 }, () => ports.reserve('a')));
    assert.equal(new Set(given).size, 500);
    await assert.rejects(ports.reserve('a'), { code: 'conflict' });
    ports.releaseAll('a');
  }
});

test('console and UDP ports that other programs of this host hold are left to them', async (t) => {
  const lab = await startLab(t, { console: [12_100, 12_105], udp: [14_100, 14_105] });
  const path = await lab.project();
  await listen(t, 12_100);
  const socket = createSocket('udp4').bind(14_100, '127.0.0.1');
  await once(socket, 'listening');
  t.after(() => socket.close());
  const { console } = await lab.expect(201, 'POST', `${path}/vpcs/nodes`, { name: 'PC1' });
  assert.equal(console, 12_101);
  assert.deepEqual(await lab.expect(201, 'POST', `${path}/ports/udp`), { udp_port: 14_101 });
  assert.deepEqual(await lab.expect(200, 'GET', '/network/ports'), {
    console_port_range: [12_100, 12_105],
    console_ports: [12_101],
    udp_port_range: [14_100, 14_105],
    udp_ports: [14_101],
  });
});

test('when no port is left, the range and its keys are named, and nothing of the node stays', async (t) => {
  const lab = await startLab(t, { console: [12_110, 12_111], udp: [14_110, 14_111] });
  const path = await lab.project();
  for (const name of ['a', 'b']) await lab.expect(201, 'POST', `${path}/vpcs/nodes`, { name });
  const { message } = await lab.expect(409, 'POST', `${path}/vpcs/nodes`, { name: 'c', startup_script: 'x' });
  assert.match(message, /console \(TCP\) port is free between 12110 and 12111.*console_start_port_range/);
  for (let n = 0; n < 2; n += 1) await lab.expect(201, 'POST', `${path}/ports/udp`);
  assert.match((await lab.expect(409, 'POST', `${path}/ports/udp`)).message, /udp_end_port_range/);
  assert.deepEqual(await lab.expect(200, 'GET', `${path}/files`), []);
});

test('ports come back when the node, the NIO or the project goes', async (t) => {
  const lab = await startLab(t, { console: [12_120, 12_140], udp: [14_120, 14_140] });
  const path = await lab.project();
  const used = async () => {
    const { console_ports, udp_ports } = await lab.expect(200, 'GET', '/network/ports');
    return [console_ports, udp_ports];
  };
  const hub = await lab.node(path, 'ethernet_hub');
  const pc = await lab.node(path, 'vpcs');
  const { udp_port: lport } = await lab.expect(201, 'POST', `${path}/ports/udp`);
  const nio = { type: 'nio_udp', lport, rhost: '127.0.0.1', rport: 9 };
  await lab.expect(201, 'POST', `${hub}/adapters/0/ports/0/nio`, nio);
  await lab.expect(201, 'POST', `${path}/ports/udp`);
  assert.deepEqual(await used(), [[12_120], [14_120, 14_121]]);
  await lab.expect(204, 'DELETE', `${hub}/adapters/0/ports/0/nio`);
  await lab.expect(204, 'DELETE', pc);
  assert.deepEqual(await used(), [[], [14_121]]);
  await lab.node(path, 'vpcs');
  await lab.expect(204, 'POST', `${path}/close`);
  assert.deepEqual(await used(), [[], []]);
});
