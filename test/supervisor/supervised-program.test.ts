// The supervisor's side of a program, in this process.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findLink } from '../../src/host/network/kernel-interfaces.ts';
import { nextExit } from '../../src/host/processes/spawn.ts';
import { SupervisedProgram } from '../../src/supervisor/supervised-program.ts';
import { eventually } from '../eventually.ts';
import { cannotMakeInterfaces, uniqueName } from '../fabric/namespaces.ts';
import { scratchDirectory } from '../store/scratch.ts';

const PLAIN = { directory: '/', environment: {}, columns: 80, rows: 24, timerSlackMilliseconds: 0, record: {} };

function started(script: string, more: object = {}) {
  const heard = { text: '' };
  const output = (bytes: Buffer): void => {
    heard.text += bytes.toString('latin1');
  };
  const request = { ...PLAIN, program: '/bin/sh', arguments: ['-c', script], ...more };
  const program = new SupervisedProgram(request, { output, taken: () => {} });
  const end = async () => {
    await eventually('its end', () => {
      const exit = nextExit();
      if (exit) program.ended({ code: exit.code });
      return exit !== undefined;
    });
    return program.exit;
  };
  return { program, heard, end };
}

test('a program that ends while it is not listened to loses none of its last words', async () => {
  const { program, heard, end } = started('i=0; while [ $i -lt 300 ]; do echo line $i; i=$((i+1)); done; exit 4');
  program.pause();
  assert.deepEqual(await end(), { code: 4 });
  const lines = Array.from({ length: 300 }, (_, index) => `line ${index}\r\n`);
  assert.equal(heard.text, lines.join(''));
});

test('the window of a program that closes its terminal may change at that moment', async () => {
  const { program, end } = started('exec <&- >&- 2>&-; sleep 0.3');
  // Between the events of the terminal, too.
  let turn = setImmediate(function resize() {
    program.resize(80, 25);
    turn = setImmediate(resize);
  });
  await end();
  clearImmediate(turn);
  assert.deepEqual(program.exit, { code: 0 });
});

test('a program that cannot be started leaves no terminal behind', async () => {
  const request = { ...PLAIN, program: '/no/such/program', arguments: [] };
  const events = { output: () => {}, taken: () => {} };
  const terminals = () =>
    readdirSync('/proc/self/fd').filter((descriptor) => {
      try {
        return /^.dev.(ptmx|pts)/.test(readlinkSync(`/proc/self/fd/${descriptor}`));
      } catch {
        return false; // of the reading itself
      }
    }).length;
  const before = terminals();
  for (let round = 0; round < 20; round++) {
    assert.throws(() => new SupervisedProgram(request, events), { code: 'ENOENT' });
  }
  assert.equal(terminals(), before);
});

test('a program with a log has no terminal, and adds its output and its errors to the file', async (t) => {
  const directory = await scratchDirectory(t);
  const log = join(directory, 'log');
  const ended = async (script: string) => {
    const request = { ...PLAIN, program: '/bin/sh', arguments: ['-c', script], log };
    const program = new SupervisedProgram(request, { output: () => {}, taken: () => {} });
    program.resize(100, 50);
    program.input(Buffer.from('nobody reads this'));
    await eventually('its end', () => {
      const exit = nextExit();
      if (exit) program.ended({ code: exit.code });
      return exit !== undefined;
    });
    return program.exit;
  };
  assert.deepEqual(await ended('tty; echo error >&2; cat; ls /proc/self/fd | wc -l'), { code: 0 });
  assert.deepEqual(await ended('echo more; exit 3'), { code: 3 });
  // The fourth descriptor is the directory that ls reads.
  assert.equal(readFileSync(log, 'utf8'), 'not a tty\nerror\n4\nmore\n');
});

test('a program has the TAPs that it is to have as its descriptors, and they go with it', {
  skip: cannotMakeInterfaces,
}, async () => {
  const taps = Array.from({ length: 12 }, () => uniqueName());
  const { program, end } = started('exec cat', { taps });
  // From the moment at which it is the program that was asked for.
  await eventually('the program', () => readFileSync(`/proc/${program.pid}/comm`, 'latin1') === 'cat\n');
  const names = taps.map((_name, index) => readFileSync(`/proc/${program.pid}/fdinfo/${index + 3}`, 'latin1'));
  assert.deepEqual(
    names.map((information) => /^iff:\t(.*)$/m.exec(information)?.[1]),
    taps,
  );
  // Its libraries are opened one after the other.
  await eventually('its own', () => readdirSync(`/proc/${program.pid}/fd`).length === 3 + taps.length);
  assert.throws(() => started('exit', { taps: [taps[0]] }), { code: 'EBUSY' });
  program.signal('SIGKILL');
  await end();
  await eventually('the end of the interfaces', () => taps.every((name) => findLink(name) === undefined));
});
