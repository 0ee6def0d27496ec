// The holder's side of a program, in this process.
import assert from 'node:assert/strict';
import { readdirSync, readlinkSync } from 'node:fs';
import { test } from 'node:test';
import { HeldProgram } from '../../src/holder/held-program.ts';
import { nextExit } from '../../src/host/spawn.ts';
import { until } from '../consoles/harness.ts';

const PLAIN = { directory: '/', environment: {}, columns: 80, rows: 24, timerSlackMilliseconds: 0, record: {} };

function started(script: string) {
  const heard = { text: '' };
  const output = (bytes: Buffer): void => {
    heard.text += bytes.toString('latin1');
  };
  const request = { ...PLAIN, program: '/bin/sh', arguments: ['-c', script] };
  const program = new HeldProgram(request, { output, taken: () => {} });
  const end = async () => {
    await until('its end', () => {
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
    assert.throws(() => new HeldProgram(request, events), { code: 'ENOENT' });
  }
  assert.equal(terminals(), before);
});
