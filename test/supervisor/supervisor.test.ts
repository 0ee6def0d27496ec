// The supervisor of programs, spoken to as daemons do: one after the other, of other releases, or not at all.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { IncompatibleSupervisor, type ProgramHandle, SupervisorClient } from '../../src/supervisor/client.ts';
import { FRAME, type FrameType, frame, PROTOCOL, type StartRequest } from '../../src/supervisor/protocol.ts';
import { supervisorDirectory } from '../../src/supervisor/socket-path.ts';
import { isRunning } from '../consoles/harness.ts';
import { eventually } from '../eventually.ts';
import { anonymousMebibytes } from '../system/processes.ts';
import { supervisorState } from './harness.ts';

const nothing = async (): Promise<void> => {};

function clientOf(place: { state: string; instance: string }): SupervisorClient {
  return new SupervisorClient({ ...place, lost: nothing });
}

function shell(script: string, record: object = {}): StartRequest {
  const environment = { PATH: '/usr/bin:/bin' };
  const size = { columns: 80, rows: 24, timerSlackMilliseconds: 0 };
  return { program: '/bin/sh', arguments: ['-c', script], directory: '/', environment, ...size, record };
}

/** Collects what a program says; `exit` is set when it has ended. */
function listening() {
  const heard = { text: '', ended: undefined as object | undefined, output: noted, exit: over };
  function noted(bytes: Buffer): void {
    heard.text += bytes.toString('latin1');
  }
  function over(_: ProgramHandle, exit: object): void {
    heard.ended = exit;
  }
  return heard;
}

test('the next daemon finds the programs of the last one: their records, their output, their exits', async (t) => {
  const place = supervisorState();
  const first = clientOf(place);
  const heard = listening();
  const script = 'i=0; while [ $i -lt 9000 ]; do echo line $i; i=$((i+1)); done; read x; echo got $x; read y; exit 3';
  const lasting = await first.start(shell(script, { node: 'n1' }), heard);
  const brief = await first.start(shell('echo last words; read x; exit 7', { node: 'n2' }), listening());
  await eventually('all lines', () => heard.text.includes('line 8999'));
  const { pid } = first;
  await first.leave();

  const second = clientOf(place);
  t.after(() => second.leave());
  const found = await second.join();
  assert.equal(second.pid, pid);
  assert.deepEqual(
    found.map((handle) => [handle.id, handle.pid, handle.record, handle.exit]),
    [
      [lasting.id, lasting.pid, { node: 'n1' }, undefined],
      [brief.id, brief.pid, { node: 'n2' }, undefined],
    ],
  );
  const [again, short] = [listening(), listening()];
  found[0]!.follow(again);
  found[1]!.follow(short);
  await eventually('the history', () => again.text.includes('line 8999'));
  assert.ok(again.text.length <= 64 * 1024, `${again.text.length} bytes of history`);
  assert.match(again.text, /^line \d+\r\n/);
  found[0]!.write(Buffer.from('typed\n'));
  found[1]!.write(Buffer.from('\n'));
  await eventually('the answer', () => again.text.includes('got typed'));
  await eventually('the exit', () => short.ended !== undefined);
  assert.deepEqual(short.ended, { code: 7 });
  assert.match(short.text, /last words/);

  found[0]!.signal('SIGKILL');
  await eventually('the other exit', () => again.ended !== undefined);
  for (const handle of found) second.forget(handle);
  await second.leave();
  await eventually('the end of the supervisor', () => !isRunning(pid!));
});

test('a program that ends while no daemon runs is reported to the next, with its last output', async (t) => {
  const place = supervisorState();
  const first = clientOf(place);
  const before = listening();
  const { pid } = await first.start(shell('echo last words; exec sleep 1000'), before);
  await eventually('its words', () => before.text !== '');
  await first.leave();
  process.kill(pid, 'SIGTERM');
  await eventually('its end', () => !existsSync(`/proc/${pid}`));
  const second = clientOf(place);
  t.after(() => second.leave());
  const [handle] = await second.join();
  assert.deepEqual(handle!.exit, { code: 0, signal: 'SIGTERM' });
  const heard = listening();
  handle!.follow(heard);
  await eventually('its last words', () => heard.ended !== undefined);
  assert.equal(heard.text, 'last words\r\n');
  second.forget(handle!);
});

/** A daemon that speaks the protocol and reads only when told to. */
async function bareDaemon(t: TestContext, { state, instance }: { state: string; instance: string }): Promise<Socket> {
  const socket = connect(join(supervisorDirectory(state), 'socket'));
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  socket.write(frame(FRAME.hello, 0, { protocol: PROTOCOL, instance }));
  return socket;
}

test('a daemon that does not read makes programs wait, and the supervisor no larger', async (t) => {
  const place = supervisorState();
  const launcher = clientOf(place);
  await launcher.start(shell('exit'), listening());
  const pid = launcher.pid!;
  await launcher.leave();
  const stalled = await bareDaemon(t, place);
  const before = anonymousMebibytes(pid);
  stalled.write(frame(FRAME.start, 100, shell('exec yes "a line of some length that is said again and again"')));
  const written = () => Number(/^rchar: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))![1]);
  let last = -1;
  await eventually('the supervisor to stop reading', () => {
    const now = written();
    const still = now === last && now > 1024 * 1024;
    last = now;
    return still;
  });
  assert.ok(anonymousMebibytes(pid) - before < 40, `${anonymousMebibytes(pid) - before} MiB more`);
  stalled.destroy();
  // Without a daemon the program goes on, into the scrollback.
  await eventually('the supervisor to read on', () => written() > last + 4 * 1024 * 1024);
  const client = clientOf(place);
  t.after(() => client.leave());
  for (const handle of await client.join()) {
    const heard = listening();
    handle.follow(heard);
    handle.signal('SIGKILL');
    await eventually('its end', () => heard.ended !== undefined);
    client.forget(handle);
  }
});

test('a program with too long a command line is refused and ends no other one', async (t) => {
  const client = clientOf(supervisorState());
  t.after(() => client.leave());
  const heard = listening();
  const cat = await client.start(shell('exec cat'), heard);
  const words = shell(`: ${'"'.repeat(2_500_000)}`);
  await assert.rejects(client.start(words, listening()), { code: 'conflict', message: /command line is too long/ });
  cat.write(Buffer.from('there\n'));
  await eventually('the echo', () => heard.text.includes('there\r\nthere'));
  cat.signal('SIGKILL');
  await eventually('its end', () => heard.ended !== undefined);
  client.forget(cat);
});

test('what fails for one program ends no other one', async (t) => {
  const client = clientOf(supervisorState());
  t.after(() => client.leave());
  const heard = listening();
  const cat = await client.start(shell('exec cat'), heard);
  cat.signal('SIGNONE' as NodeJS.Signals);
  cat.write(Buffer.from('there\n'));
  await eventually('the echo', () => heard.text.includes('there\r\nthere'));
  cat.signal('SIGKILL');
  await eventually('its end', () => heard.ended !== undefined);
  assert.deepEqual(heard.ended, { code: 0, signal: 'SIGKILL' });
  client.forget(cat);
});

test('the next daemon finds all programs, however long their records are together', async (t) => {
  const place = supervisorState();
  const first = clientOf(place);
  const record = { text: 'x'.repeat(1_500_000) };
  for (let count = 0; count < 4; count++) await first.start(shell('exec cat', record), listening());
  await first.leave();
  const second = clientOf(place);
  t.after(() => second.leave());
  const found = await second.join();
  assert.deepEqual(
    found.map((handle) => handle.record),
    Array.from({ length: 4 }, () => record),
  );
  for (const handle of found) {
    const heard = listening();
    handle.follow(heard);
    handle.signal('SIGKILL');
    await eventually('its end', () => heard.ended !== undefined);
    second.forget(handle);
  }
});

test('only the state directory that a supervisor belongs to is served', async (t) => {
  const place = supervisorState();
  const owner = clientOf(place);
  t.after(() => owner.leave());
  const heard = listening();
  const cat = await owner.start(shell('echo ready; exec cat'), heard);
  await eventually('its output', () => heard.text.includes('ready'));
  await assert.rejects(clientOf({ ...place, instance: 'another' }).join(), IncompatibleSupervisor);
  const intruder = connect(join(supervisorDirectory(place.state), 'socket'));
  await once(intruder, 'connect');
  intruder.write(frame(FRAME.input, 1, Buffer.from('x')));
  await once(intruder, 'close');
  assert.equal(heard.ended, undefined);

  chmodSync(supervisorDirectory(place.state), 0o755);
  await assert.rejects(clientOf(place).join(), { code: 'conflict', message: /mode 0700/ });
  cat.signal('SIGKILL');
  await eventually('its end', () => heard.ended !== undefined);
  owner.forget(cat);
});

test('a supervisor of another release, or something else at its socket, is named and not believed', async (t) => {
  const place = supervisorState();
  const speaks = async (answer: Buffer): Promise<void> => {
    const server = createServer((socket) => socket.on('error', () => {}).write(answer));
    server.listen(join(supervisorDirectory(place.state), 'socket'));
    await once(server, 'listening');
    t.after(() => server.close());
    await assert.rejects(clientOf(place).join(), (error) => {
      assert.ok(error instanceof IncompatibleSupervisor);
      assert.match(error.message, /holds programs of a former run cannot be used: /);
      return true;
    });
    server.close();
  };
  await speaks(frame(FRAME.welcome, 0, { protocol: 99, pid: 1, terminals: [] }));
  await speaks(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'));
  await speaks(frame(200 as FrameType, 0, {}));
  await speaks(frame(FRAME.welcome, 0, Buffer.from('[]')));
  await speaks(frame(FRAME.welcome, 0, { protocol: PROTOCOL, pid: 1, terminals: [{ id: '1', pid: 2, record: {} }] }));
});

test('programs are found in the directory that earlier releases used, which gets its new name', async (t) => {
  const place = supervisorState();
  const first = clientOf(place);
  const { pid } = await first.start(shell('echo ready; exec sleep 1000'), listening());
  await first.leave();
  renameSync(join(place.state, 'supervisor'), join(place.state, 'holder'));
  const second = clientOf(place);
  t.after(() => second.leave());
  const [handle] = await second.join();
  assert.equal(handle?.pid, pid);
  assert.deepEqual(readdirSync(place.state), ['supervisor']);
  const heard = listening();
  handle.follow(heard);
  handle.signal('SIGKILL');
  await eventually('its end', () => heard.ended !== undefined);
  second.forget(handle);
});

test('a state directory may have a long name', async () => {
  const { state, instance } = supervisorState();
  const client = clientOf({ state: join(state, 'a'.repeat(100), 'b'.repeat(100)), instance });
  const heard = listening();
  const handle = await client.start(shell('echo ready; exit'), heard);
  await eventually('its end', () => heard.ended !== undefined);
  assert.equal(heard.text, 'ready\r\n');
  client.forget(handle);
  await client.leave();
});
