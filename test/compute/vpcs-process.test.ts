// Virtual PCs with the real program, under a terminal, on telnet.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { vpcsCommand } from '../../src/compute/emulators/vpcs/command.ts';
import { startOutcome, VpcsProcess } from '../../src/compute/emulators/vpcs/process.ts';
import { type VpcsProgram, VpcsPrograms } from '../../src/compute/emulators/vpcs/program.ts';
import { STARTUP_SCRIPT } from '../../src/compute/emulators/vpcs/script.ts';
import { TelnetServer } from '../../src/consoles/telnet-server.ts';
import type { TerminalExit } from '../../src/consoles/terminal.ts';
import { childEnvironment, findOurs, processToken, reapOurs } from '../../src/host/processes/child-processes.ts';
import { Client } from '../consoles/harness.ts';
import { eventually } from '../eventually.ts';
import { freePort } from '../fabric/peers.ts';
import { freeTcpPort } from '../free-tcp-port.ts';
import { judge, OtherLoad } from '../other-load.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { testSupervisor } from '../supervisor/harness.ts';

const supervisor = testSupervisor();

const program: VpcsProgram | undefined = await new VpcsPrograms().find('vpcs').catch(() => undefined);
const skip = program === undefined ? 'vpcs is not installed' : false;

interface PcOptions {
  script?: string;
  name?: string;
  environment?: Record<string, string>;
  macByte?: number;
  localPort?: number;
  remotePort?: number;
}

async function makePc(t: TestContext, options: PcOptions = {}): Promise<VpcsProcess> {
  const { name = 'PC1', environment = childEnvironment(), macByte = 1, script } = options;
  const directory = await scratchDirectory(t);
  if (script !== undefined) await writeFile(join(directory, STARTUP_SCRIPT), script);
  const command = vpcsCommand({
    ...{ program: program!.path, version: program!.version, macByte, remoteHost: '127.0.0.1' },
    localPort: options.localPort ?? (await freePort()),
    remotePort: options.remotePort ?? (await freePort()),
    script: script === undefined ? undefined : STARTUP_SCRIPT,
  });
  const pc = new VpcsProcess({ supervisor, name, command, directory, environment });
  t.after(() => pc.stop());
  return pc;
}

/** A started PC with a client on its telnet port. */
async function startPc(
  t: TestContext,
  options: PcOptions = {},
): Promise<{ pc: VpcsProcess; port: number; client: Client }> {
  const pc = await makePc(t, options);
  await pc.start();
  const port = await freeTcpPort();
  const server = new TelnetServer({ console: pc.console, host: '127.0.0.1', port });
  await server.start();
  t.after(() => server.stop());
  return { pc, port, client: await Client.open(t, port) };
}

test('a PC answers on its telnet console to every kind of Enter', { skip }, async (t) => {
  const { client } = await startPc(t, { macByte: 0xab });
  await client.sees(/VPCS> $/);
  for (const enter of ['\n', '\r', '\r\n', '\r\0']) {
    client.text = '';
    client.send(`show ip${enter}`);
    assert.match(await client.sees(/> $/), /^show ip\r\n[\s\S]*MAC +: 00:50:79:66:68:ab\r\n[\s\S]*> $/);
  }
});

test('two clients see the same; one that stalls does not hold up the other, who can work on', { skip }, async (t) => {
  const { pc, port, client } = await startPc(t);
  const stalled = await Client.open(t, port);
  await stalled.sees(/VPCS> $/);
  client.send('echo both see this\n');
  await Promise.all([client.sees(/\r\nboth see this\r\n/), stalled.sees(/\r\nboth see this\r\n/)]);
  stalled.socket.pause();
  // The stalled client's share fills up the kernel's buffers and then our queue.
  await eventually('the stalled client to be dropped', () => {
    pc.console.output(Buffer.alloc(16 * 1024, '.'));
    return pc.console.clientCount === 1 && !client.closed;
  });
  client.text = '';
  client.send('echo still here\n');
  await client.sees(/\r\nstill here\r\n/);
  assert.equal(client.closed, false);
});

test('who connects later sees what the start-up script did', { skip }, async (t) => {
  const { port, client } = await startPc(t, { script: 'set pcname alpha\nip 10.7.7.7/24\necho done\n' });
  await client.sees(/alpha> $/);
  const late = await Client.open(t, port);
  assert.match(await late.sees(/alpha> $/), /Executing the startup file[\s\S]*10\.7\.7\.7 255\.255\.255\.0/);
});

test('a pasted configuration is run line by line, none is lost, and a typed line waits its turn', {
  skip,
}, async (t) => {
  const { client } = await startPc(t);
  client.send('ip 10.0.0.1/24\nset pcname one\necho two\r\necho three\rshow ip\n');
  await sleep(200);
  client.send('set pcname last\n');
  const text = await client.sees(/last> $/);
  assert.match(text, /one> echo two\r\ntwo\r\n/);
  assert.match(text, /one> echo three\r\nthree\r\n/);
  assert.match(text, /one> show ip\r\n[\s\S]*IP\/MASK +: 10\.0\.0\.1\/24/);
});

test('a line that would kill the program does not', { skip }, async (t) => {
  const { pc, client } = await startPc(t);
  client.send(`${'x'.repeat(500)}\necho alive\n`);
  await client.sees(/\r\nalive\r\n/);
  assert.notEqual(pc.pid, undefined);
});

test('Ctrl+C ends a command', { skip }, async (t) => {
  const { client } = await startPc(t);
  client.send('! sleep 1000\n');
  await client.sees(/! sleep 1000\r\n$/);
  client.send('\x03');
  client.send('echo back\n');
  await client.sees(/\r\nback\r\n/);
});

test('two PCs, the first and the last of 256 addresses, ping each other over UDP', { skip }, async (t) => {
  const [a, b] = [await freePort(), await freePort()];
  const first = await startPc(t, { macByte: 255, localPort: a, remotePort: b, script: 'ip 10.0.0.1/24\n' });
  await startPc(t, { macByte: 0, localPort: b, remotePort: a, script: 'ip 10.0.0.2/24\n' });
  await first.client.sees(/10\.0\.0\.1 255[\s\S]*> $/);
  first.client.send('ping 10.0.0.2 -c 2\nshow arp\n');
  await first.client.sees(/icmp_seq=2 ttl=64[\s\S]*00:50:79:66:68:00 +10\.0\.0\.2/);
});

test('kill -9 of the program is seen at once with its last output, and clients are informed', { skip }, async (t) => {
  const { pc, client } = await startPc(t);
  client.send('echo last words\n');
  await client.sees(/\r\nlast words\r\n/);
  const exited = once(pc, 'exit');
  process.kill(pc.pid!, 'SIGKILL');
  const [load, at] = [new OtherLoad(), performance.now()];
  const [exit] = (await exited) as [TerminalExit];
  await judge(t, { what: 'the end is seen', value: performance.now() - at, limit: 1000, unit: 'ms', load });
  assert.deepEqual([exit.signal, exit.expected], ['SIGKILL', false]);
  assert.match(exit.lastOutput, /last words/);
  await client.ends();
  assert.match(client.text, /\[disconnected: PC1 has stopped\]/);
});

test('stop leaves no process, and a PC that is stopped twice is stopped', { skip }, async (t) => {
  const instance = '6f1c1b0e-0000-4000-8000-000000000001';
  const { pc } = await startPc(t, { environment: childEnvironment(processToken(instance, 'pc')) });
  const pid = pc.pid!;
  const exited = once(pc, 'exit');
  await Promise.all([pc.stop(), pc.stop()]);
  const [exit] = (await exited) as [TerminalExit];
  assert.equal(exit.expected, true);
  assert.equal(existsSync(`/proc/${pid}`), false);
  assert.deepEqual(findOurs(instance), []);
  await pc.stop();
});

test('reaping ends our PCs and no others', { skip }, async (t) => {
  const [ours, others] = ['6f1c1b0e-0000-4000-8000-000000000002', '6f1c1b0e-0000-4000-8000-000000000003'];
  const mine = await startPc(t, { environment: childEnvironment(processToken(ours, 'mine')) });
  const decoy = await startPc(t, { environment: childEnvironment(processToken(others, 'mine')) });
  const exited = once(mine.pc, 'exit');
  const { found, left } = await reapOurs(ours);
  assert.deepEqual([found.map(({ nodeId }) => nodeId), left], [['mine'], []]);
  await exited;
  decoy.client.send('echo unharmed\n');
  await decoy.client.sees(/\r\nunharmed\r\n/);
});

test('a PC whose UDP port is taken does not run deaf: it ends, and the port is named', { skip }, async (t) => {
  const taken = createSocket('udp4').bind(0);
  await once(taken, 'listening');
  t.after(() => taken.close());
  const { port } = taken.address();
  for (const script of [undefined, 'echo hello\n']) {
    const pc = await makePc(t, { localPort: port, ...(script && { script }) });
    const message = new RegExp(`UDP port ${port} of 'PC1' cannot be opened: Address already in use; end the program`);
    const exited = once(pc, 'exit');
    const refusal = await pc.start().then(
      () => undefined,
      (error: unknown) => error,
    );
    if (refusal === undefined) {
      // On a busy host the program may say it only after it seemed to have started.
      const [exit] = (await exited) as [TerminalExit];
      assert.equal(exit.expected, false);
      assert.match(exit.lastOutput, /Address already in use/);
    } else {
      await assert.rejects(Promise.reject(refusal), { code: 'conflict', exception: 'VPCSError', message });
    }
    assert.equal(pc.pid, undefined);
  }
});

test('a program that hangs fails the start with the fix, and nothing of it is left', async (t) => {
  const instance = '6f1c1b0e-0000-4000-8000-000000000004';
  const directory = await scratchDirectory(t);
  const environment = childEnvironment(processToken(instance, 'pc'));
  const pc = new VpcsProcess({ supervisor, name: 'PC1', command: ['/bin/sleep', '1000'], directory, environment });
  const message = /VPCS of 'PC1' said nothing for 5 s; set vpcs_path in section \[VPCS\]/;
  await assert.rejects(pc.start(), { code: 'conflict', exception: 'VPCSError', message });
  assert.deepEqual(findOurs(instance), []);
});

test('bad news that come late end the PC, as an exit by itself', async (t) => {
  const directory = await scratchDirectory(t);
  const script = `echo "Press '?' to get help."; sleep 0.3; echo "Open port 7 error [Address already in use]"; sleep 1000`;
  const command = ['/bin/sh', '-c', script];
  const pc = new VpcsProcess({ supervisor, name: 'PC1', command, directory, environment: childEnvironment() });
  const exited = once(pc, 'exit');
  await pc.start();
  const [exit] = (await exited) as [TerminalExit];
  assert.equal(exit.expected, false);
  assert.match(exit.lastOutput, /Open port 7 error/);
});

test('a program that ends at once fails the start with what it said', async (t) => {
  const directory = await scratchDirectory(t);
  const command = ['/bin/sh', '-c', 'echo no such option; exit 3'];
  const pc = new VpcsProcess({ supervisor, name: 'PC1', command, directory, environment: childEnvironment() });
  let exits = 0;
  pc.on('exit', () => exits++);
  const message = /VPCS of 'PC1' ended at once \(exit code 3\): no such option/;
  await assert.rejects(pc.start(), { code: 'conflict', exception: 'VPCSError', message });
  assert.deepEqual([pc.pid, exits], [undefined, 0]);
});

test('an idle PC is not woken thousands of times a second', { skip }, async (t) => {
  const { pc } = await startPc(t);
  const file = `/proc/${pc.pid}/timerslack_ns`;
  if (!existsSync(file)) return t.skip('this kernel has no timerslack_ns');
  if (process.getuid!() !== 0) return t.skip('only root may read the timer slack of other processes');
  assert.equal(readFileSync(file, 'utf8').trim(), '5000000');
});

test('the outcome of a start is read from the first words of the program', () => {
  const banner = "\r\r\nWelcome to Virtual PC Simulator, version 0.5b2\r\r\n\r\nPress '?' to get help.\r\n";
  assert.equal(startOutcome(''), 'starting');
  assert.equal(startOutcome('\r\nWelcome to Virtual PC Simulator'), 'starting');
  assert.equal(startOutcome(banner), 'settling');
  assert.equal(startOutcome(`${banner}\r\n\rVPCS> `), 'started');
  assert.equal(startOutcome(`${banner}\r\nExecuting the startup file\r\n`), 'started');
  const failed = { port: '23031', reason: 'Address already in use' };
  assert.deepEqual(startOutcome(`${banner}Open port 23031 error [Address already in use]\r\n\r\n\rVPCS> `), failed);
});
