// What consoles do with output and pasted text, without a browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OutputFeed } from '../../src/web/console/output-feed.ts';
import { linesOf, type PasteTarget, pasteSlowly } from '../../src/web/console/slow-paste.ts';

test('output is handed over in order, one piece at a time', () => {
  const written: string[] = [];
  const dones: (() => void)[] = [];
  const feed = new OutputFeed((piece, done) => {
    written.push(Buffer.from(piece).toString());
    dones.push(done);
  });
  for (const text of ['one\n', 'two\n', 'three']) feed.push(Buffer.from(text));
  assert.deepEqual([written, feed.isIdle], [['one\n'], false]);
  dones.shift()!();
  assert.deepEqual([written, feed.lines], [['one\n', 'two\nthree'], 2]);
  dones.shift()!();
  assert.ok(feed.isIdle);
});

test('a terminal that cannot keep up holds two megabytes at most, loses the oldest, and says so', () => {
  const written: Buffer[] = [];
  let done = (): void => {};
  const feed = new OutputFeed((piece, called) => {
    written.push(Buffer.from(piece));
    done = called;
  });
  const line = `${'x'.repeat(99)}\n`;
  for (let count = 0; count < 1000; count += 1) feed.push(Buffer.from(line.repeat(100)));
  feed.push(Buffer.from('the last'));
  while (!feed.isIdle) done();
  const all = Buffer.concat(written).toString();
  assert.ok(all.length < 2_200_000, String(all.length));
  assert.match(all, /\r\n\[\d+ kB left out: too fast to show\]\r\nx{99}\n/);
  assert.ok(all.endsWith(`${line}the last`));
});

/** A router that echoes, works for a while, and shows its prompt; what comes meanwhile is lost. */
class BusyRouter implements PasteTarget {
  readonly heard: string[] = [];
  lines = 0;
  cursorLine = 'R1#';
  #saidAt = performance.now();
  #isBusy = false;
  readonly #prompts: boolean;

  constructor(prompts: boolean) {
    this.#prompts = prompts;
  }

  get quiet(): number {
    return performance.now() - this.#saidAt;
  }

  isConnected = true;
  /** Takes lines that never arrive. */
  isDead = false;
  connection = { attempt: 0 };

  send(text: string): boolean {
    if (!this.isConnected) return false;
    if (this.#isBusy || this.isDead) return true;
    this.heard.push(text);
    this.#isBusy = true;
    this.#say(1, '');
    setTimeout(() => {
      this.#isBusy = false;
      this.#say(0, this.#prompts ? 'R1(config)#' : 'no prompt that one knows');
    }, 60);
    return true;
  }

  #say(lines: number, cursorLine: string): void {
    this.lines += lines;
    this.cursorLine = cursorLine;
    this.#saidAt = performance.now();
  }
}

test('a slow paste waits for the prompt, or for silence where there is none, and loses nothing', async () => {
  for (const prompts of [true, false]) {
    const router = new BusyRouter(prompts);
    const text = prompts ? 'conf t\r\nhostname R1\nend\n' : 'a\nb';
    let told = 0;
    const progress = (lines: number): void => {
      told = lines;
    };
    await pasteSlowly(text, router, { signal: new AbortController().signal, progress });
    assert.deepEqual(router.heard, prompts ? ['conf t\r', 'hostname R1\r', 'end\r'] : ['a\r', 'b']);
    assert.equal(told, router.heard.length);
  }
  const stopped = new AbortController();
  const router = new BusyRouter(true);
  await pasteSlowly('a\nb\nc\n', router, { signal: stopped.signal, progress: () => stopped.abort() });
  assert.deepEqual(router.heard, ['a\r']);
  assert.deepEqual(linesOf('\na\n\n'), ['', 'a', '']);
});

test('a slow paste ends when the connection is lost, and reports the first line that may be missing', async () => {
  const router = new BusyRouter(true);
  const { signal } = new AbortController();
  let told = 0;
  const progress = (lines: number): void => {
    told = lines;
    // It breaks while the answer to the second line is awaited, and is back before the fourth.
    if (lines === 2) router.isConnected = false;
    if (lines === 3) router.isConnected = true;
  };
  assert.equal(await pasteSlowly('a\nb\nc\nd\n', router, { signal, progress }), 3);
  assert.deepEqual([router.heard, told], [['a\r', 'b\r'], 2]);

  // The connection has been dead for two lines when that shows, and is back at once with the output of before.
  const dead = new BusyRouter(true);
  const breaks = (lines: number): void => {
    if (lines === 1) dead.isDead = true;
    if (lines === 3) Object.assign(dead, { connection: { attempt: 1 }, isDead: false, lines: 5 });
  };
  assert.equal(await pasteSlowly('a\nb\nc\nd\n', dead, { signal, progress: breaks }), 2);
  assert.deepEqual(dead.heard, ['a\r']);
});
