// The control connection to Dynamips, and its consoles, as bytes come at the worst moments.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TelnetFilter } from '../../src/compute/emulators/dynamips/console-line.ts';
import { Hypervisor } from '../../src/compute/emulators/dynamips/hypervisor.ts';
import { FileWatch } from '../../src/compute/emulators/dynamips/kept-files.ts';
import { isAtLeast, parseVersion } from '../../src/compute/emulators/dynamips/program.ts';
import { eventually } from '../eventually.ts';
import { failure, scratchDirectory } from '../store/scratch.ts';

/** A connection to somebody who answers each line in this way. */
async function connection(
  t: TestContext,
  answer: (line: string, socket: Socket) => void,
): Promise<{ hypervisor: Hypervisor; lines: string[] }> {
  const lines: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (part) => {
      for (const line of part.toString().split('\n').filter(Boolean)) {
        lines.push(line);
        answer(line, socket);
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const hypervisor = await Hypervisor.connect('127.0.0.1', (server.address() as { port: number }).port);
  t.after(() => {
    hypervisor.close();
    server.close();
  });
  return { hypervisor, lines };
}

test('commands are quoted, answered in their order, and answers may come in pieces', async (t) => {
  const { hypervisor, lines } = await connection(t, (line, socket) => {
    socket.write('101 first\r\n101 ');
    setTimeout(() => socket.write(`${line.split(' ')[1]}\r\n100-do`), 5);
    setTimeout(() => socket.write('ne\r\n'), 10);
  });
  const replies = await Promise.all([
    hypervisor.run('vm start', ['R 1#!', 5, '']),
    hypervisor.run('nio delete', ['cable_0_0']),
  ]);
  assert.deepEqual(lines, ['vm start "R 1#!" 5', 'nio delete "cable_0_0"']);
  assert.deepEqual(replies, [
    { text: 'done', lines: ['first', 'start'] },
    { text: 'done', lines: ['first', 'delete'] },
  ]);
  for (const name of ['a"b', 'a\nvm stop "R1"', 'a\0b']) {
    assert.throws(() => hypervisor.run('vm start', [name]), failure('conflict', /does not take/));
  }
  assert.equal(lines.length, 2);
});

test('a refusal leaves the connection in use; silence, rubbish and an end do not', async (t) => {
  const { hypervisor } = await connection(t, (line, socket) => {
    if (line.includes('refuse')) socket.write("208-unable to find VM 'R1'\r\n");
    else if (line.includes('rubbish')) socket.write('<html>\r\n');
    else socket.write('100-OK\r\n');
  });
  await assert.rejects(hypervisor.run('vm refuse'), failure('conflict', /refused 'vm refuse': unable to find VM/));
  assert.equal(await hypervisor.attempt('vm refuse'), undefined);
  assert.equal((await hypervisor.run('vm start')).text, 'OK');
  await assert.rejects(hypervisor.run('vm rubbish'), failure('conflict', /does not answer as Dynamips does/));
  await assert.rejects(hypervisor.run('vm start'), failure('conflict', /does not answer as Dynamips does/));

  const { hypervisor: silent } = await connection(t, () => {});
  await assert.rejects(silent.run('vm stop', [], 50), failure('conflict', /does not answer within 0.05 s/));
  await assert.rejects(silent.attempt('vm start'), failure('conflict', /does not answer within/));

  const { hypervisor: ending } = await connection(t, (_, socket) => socket.destroy());
  await assert.rejects(ending.run('vm stop'), failure('conflict', /was closed/));
});

test('telnet commands are taken out of what a console says, wherever it is cut', () => {
  const said = Buffer.from('\xff\xfd\x18\xff\xfb\x01Rou\xff\xfe\x22ter\xff\xff>', 'latin1');
  for (let at = 0; at <= said.length; at += 1) {
    const filter = new TelnetFilter();
    const parts = [said.subarray(0, at), said.subarray(at)].map((part) => filter.receive(part));
    assert.equal(Buffer.concat(parts.map(({ data }) => data)).toString('latin1'), 'Router\xff>');
    assert.deepEqual(Buffer.concat(parts.map(({ reply }) => reply)), Buffer.from([255, 252, 24]));
  }
});

test('versions are read and compared', () => {
  assert.equal(parseVersion('Cisco Router Simulation Platform (version 0.2.14-amd64/Linux stable)'), '0.2.14');
  assert.equal(parseVersion('something else'), undefined);
  assert.deepEqual(
    ['0.2.8', '0.2.11', '0.2.23', '0.3', '1.0'].map((version) => isAtLeast(version, [0, 2, 11])),
    [false, true, true, true, true],
  );
});

test('a file that changes is reported until the watch ends', async (t) => {
  const path = join(await scratchDirectory(t), 'nvram');
  writeFileSync(path, 'before');
  let told = 0;
  const watch = new FileWatch(path, 10, async () => {
    told += 1;
  });
  t.after(() => watch.stop());
  let round = 0;
  await eventually('a change', () => {
    round += 1;
    writeFileSync(path, `change ${round}`);
    return told > 0;
  });
  await watch.stop();
  const before = told;
  writeFileSync(path, 'nobody looks');
  await sleep(50);
  assert.equal(told, before);
});
