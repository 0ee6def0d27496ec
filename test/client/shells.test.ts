// The completions in the shells that they are for: zsh on a terminal, and fish.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { openPseudoTerminal } from '../../src/host/processes/pseudo-terminal.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { eventually } from '../system/daemon.ts';
import { missing } from '../system/lab.ts';

const { fishCompletion, zshCompletion } = (await import(
  join(import.meta.dirname, '../../bin/completions.mjs')
)) as Record<'fishCompletion' | 'zshCompletion', string>;

test('fish offers nouns, verbs and flags', { skip: missing('fish') }, async (t) => {
  const directory = await scratchDirectory(t);
  const file = join(directory, 'labwired.fish');
  writeFileSync(file, fishCompletion);
  const offered = (line: string): string[] =>
    execFileSync('fish', ['--no-config', '-c', 'source $argv[1]; complete -C $argv[2]', file, line], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: directory },
    })
      .split('\n')
      .map((row) => row.split('\t')[0]!)
      .filter((word) => word !== '');
  assert.deepEqual(offered('labwired sna'), ['snapshot']);
  assert.deepEqual(offered('labwired lab st'), ['start', 'stop']);
  assert.deepEqual(offered('labwired node exec --u'), ['--until']);
  assert.deepEqual(offered('labwired capture x --fi'), ['--filter']);
  assert.deepEqual(offered('labwired serve --por'), ['--port']);
});

test('zsh completes nouns, verbs and flags at its prompt', { skip: missing('zsh') }, async (t) => {
  const directory = await scratchDirectory(t);
  writeFileSync(join(directory, '_labwired'), zshCompletion);
  const { output, device, descriptor } = openPseudoTerminal(120, 24);
  const end = openSync(device, 'r+');
  const shell = spawn('zsh', ['-f', '-i'], {
    cwd: directory,
    env: { PATH: process.env['PATH'], HOME: directory, TERM: 'xterm', ZDOTDIR: directory },
    stdio: [end, end, end],
  });
  t.after(() => {
    shell.kill('SIGKILL');
    closeSync(end);
    output.destroy();
  });
  let text = '';
  output.setEncoding('utf8').on('data', (said: string) => {
    text += said;
  });
  const type = (keys: string): void => void writeSync(descriptor, keys);
  const shows = (pattern: RegExp): Promise<string> =>
    eventually(
      String(pattern),
      () => text,
      (said) => pattern.test(stripVTControlCharacters(said)),
    );
  type("PS1='ready> '; fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D; setopt no_beep; echo made\r");
  await shows(/\nmade[\s\S]*ready> /);
  for (const [typed, completed] of [
    ['labwired sna\t', /labwired snapshot /],
    ['labwired lab exp\t', /labwired lab export /],
    ['labwired node exec --unt\t', /labwired node exec --until/],
    ['labwired capture x --fil\t', /labwired capture x --filter/],
    ['labwired serve --por\t', /labwired serve --port/],
  ] as const) {
    text = '';
    type(typed);
    await shows(completed);
    type('\u0015');
  }
});
