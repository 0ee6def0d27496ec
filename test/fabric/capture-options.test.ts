// Captures beyond one whole pcap file: formats, cut frames, filters, rings, readers that follow, and many at once.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { CAPTURE_FORMATS } from '../../src/api/captures.ts';
import type { CaptureFile, CaptureFileOptions } from '../../src/fabric/fabric.ts';
import { compileFilter } from '../../src/host/network/libpcap.ts';
import { noLibpcap } from '../host/missing.ts';
import { scratchDirectory, scratchFileSystem } from '../store/scratch.ts';
import { emulatorPort, settled, startFabric } from './peers.ts';

const run = promisify(execFile);
const tshark = await run('tshark', ['--version']).then(
  () => true,
  () => false,
);

/** An Ethernet frame that carries its number. */
function numbered(number: number, length = 200): Buffer {
  const frame = Buffer.alloc(length, 0x5a);
  Buffer.from('ffffffffffff00507966680088b5', 'hex').copy(frame);
  frame.writeUInt32BE(number, 14);
  return frame;
}

interface Captured {
  send: (...frames: Buffer[]) => Promise<void>;
  /** Once so many frames were recorded or passed over. */
  stop: (frames: number) => Promise<void>;
  output: CaptureFile;
  port: Awaited<ReturnType<typeof emulatorPort>>['port'];
}

/** A capture of what an emulator sends into a cable. */
async function captured(t: TestContext, options: Omit<CaptureFileOptions, 'linkType'>): Promise<Captured> {
  const fabric = await startFabric(t);
  const { emulator, port, localPort } = await emulatorPort(t, fabric);
  await port.connect({ kind: 'null' });
  const output = await port.startCapture({ linkType: 'DLT_EN10MB', ...options });
  const stop = async (frames: number): Promise<void> => {
    await settled(port, ({ capture }) => capture!.frames + capture!.filtered === frames);
    await port.stopCapture();
  };
  return { output, port, stop, send: (...frames) => emulator.send(localPort, ...frames) };
}

/** Numbers and lengths of the frames of a pcap stream or file. */
function framesOf(pcap: Buffer): { number: number; captured: number; length: number; time: number }[] {
  const frames = [];
  for (let offset = 24; offset < pcap.length; ) {
    const captured = pcap.readUInt32LE(offset + 8);
    const time = pcap.readUInt32LE(offset) * 1e9 + pcap.readUInt32LE(offset + 4);
    const length = pcap.readUInt32LE(offset + 12);
    frames.push({ number: pcap.readUInt32BE(offset + 16 + 14), captured, length, time });
    offset += 16 + captured;
  }
  return frames;
}

async function all(output: CaptureFile): Promise<Buffer> {
  const reader = output.reader();
  const parts = [];
  for (let part = await reader.read(); part !== undefined; part = await reader.read()) parts.push(part);
  return Buffer.concat(parts);
}

for (const format of CAPTURE_FORMATS) {
  test(`tshark follows a live ${format} capture across the files of its ring, with every frame in order`, async (t) => {
    if (!tshark) return t.skip('tshark is not installed');
    const file = join(await scratchDirectory(t), `c.${format}`);
    const ring = { fileBytes: 4000, files: 100 };
    const { send, stop, output } = await captured(t, { file, format, ring, interface: { name: 'PC1 0/0' } });
    const program = spawn('sh', ['-c', 'cat | tshark -r - -T fields -e frame.len -e data.data']);
    t.after(() => program.kill());
    const lines: Buffer[] = [];
    program.stdout.on('data', (data) => lines.push(data));
    const closed = new Promise((resolve) => program.on('close', resolve));
    const reader = output.reader();
    const feeding = (async () => {
      for (let part = await reader.read(); part !== undefined; part = await reader.read()) program.stdin.write(part);
      program.stdin.end();
    })();
    for (let number = 0; number < 100; number++) await send(numbered(number));
    await stop(100);
    await feeding;
    await closed;
    const frames = Buffer.concat(lines).toString().trim().split('\n');
    assert.equal(frames.length, 100);
    for (const [number, line] of frames.entries()) {
      assert.ok(line.startsWith(`200\t${number.toString(16).padStart(8, '0')}`), line);
    }
  });
}

test('a ring keeps its newest files, each complete by itself and not larger than asked', async (t) => {
  const directory = await scratchDirectory(t);
  const file = join(directory, 'c.pcap');
  for (const name of ['c_00077.pcap', 'c_notes.pcap', 'd_00001.pcap']) await writeFile(join(directory, name), 'old');
  const { send, stop } = await captured(t, { file, ring: { fileBytes: 24 + 3 * 216 + 100, files: 3 } });
  for (let number = 0; number < 20; number++) await send(numbered(number));
  await stop(20);
  assert.deepEqual((await readdir(directory)).sort(), [
    'c.pcap',
    'c_00005.pcap',
    'c_00006.pcap',
    'c_notes.pcap',
    'd_00001.pcap',
  ]);
  const kept = [];
  for (const name of ['c_00005.pcap', 'c_00006.pcap', 'c.pcap'])
    kept.push(framesOf(await readFile(join(directory, name))).map(({ number }) => number));
  assert.deepEqual(kept, [
    [12, 13, 14],
    [15, 16, 17],
    [18, 19],
  ]);
});

test('a late reader of a ring begins with the header and the oldest file that is left', async (t) => {
  const file = join(await scratchDirectory(t), 'c.pcap');
  const { send, stop, output, port } = await captured(t, { file, ring: { fileBytes: 24 + 3 * 216, files: 2 } });
  for (let number = 0; number < 9; number++) await send(numbered(number));
  await settled(port, ({ capture }) => capture?.frames === 9);
  await stop(9);
  assert.deepEqual(
    framesOf(await all(output)).map(({ number }) => number),
    [3, 4, 5, 6, 7, 8],
  );
});

test('a reader that falls behind a ring goes on with what is left, and whole records only', async (t) => {
  const file = join(await scratchDirectory(t), 'c.pcap');
  const { send, stop, output } = await captured(t, { file, ring: { fileBytes: 24 + 3 * 216, files: 2 } });
  const reader = output.reader();
  await send(numbered(0));
  const parts = [await reader.read()];
  while (parts.reduce((sum, part) => sum + part!.length, 0) < 24 + 216) parts.push(await reader.read());
  for (let number = 1; number < 12; number++) await send(numbered(number));
  await stop(12);
  for (let part = await reader.read(); part !== undefined; part = await reader.read()) parts.push(part);
  assert.deepEqual(
    framesOf(Buffer.concat(parts as Buffer[])).map(({ number }) => number),
    [0, 1, 2, 6, 7, 8, 9, 10, 11],
  );
});

test('readers that come at any time, leave or never read get their data and cost no other reader anything', async (t) => {
  const file = join(await scratchDirectory(t), 'c.pcap');
  const { send, stop, output, port } = await captured(t, { file });
  const early = [all(output), all(output)];
  const idle = output.reader();
  await idle.read();
  for (let number = 0; number < 50; number++) await send(numbered(number));
  await settled(port, ({ capture }) => capture?.frames === 50);
  const late = all(output);
  await idle.close();
  assert.equal(await idle.read(), undefined);
  await stop(50);
  const whole = await readFile(file);
  for (const stream of await Promise.all([...early, late, all(output)])) assert.deepEqual(stream, whole);
});

test('frames are cut to the snap length, the rest keeps its true length; counters say what passed', async (t) => {
  const file = join(await scratchDirectory(t), 'c.pcap');
  const { send, stop, port } = await captured(t, { file, snapLength: 64 });
  await send(numbered(1, 60), numbered(2, 64), numbered(3, 1500));
  const { capture } = await settled(port, (now) => now.capture?.frames === 3);
  assert.deepEqual(capture, { frames: 3, bytes: 1624, drops: 0, filtered: 0 });
  await stop(3);
  const content = await readFile(file);
  assert.equal(content.readUInt32LE(16), 64);
  assert.deepEqual(
    framesOf(content).map(({ captured: kept, length }) => [kept, length]),
    [
      [60, 60],
      [64, 64],
      [64, 1500],
    ],
  );
});

test('only frames that the filter accepts are recorded', { skip: noLibpcap }, async (t) => {
  const expression = 'ether[14:4] >= 2';
  const program = await compileFilter(expression);
  const file = join(await scratchDirectory(t), 'c.pcap');
  const { send, stop, port } = await captured(t, { file, filter: { expression, program } });
  await send(numbered(1), numbered(2), numbered(3));
  await settled(port, ({ capture }) => capture?.frames === 2 && capture.filtered === 1);
  await stop(3);
  assert.deepEqual(
    framesOf(await readFile(file)).map(({ number }) => number),
    [2, 3],
  );
});

test('times never run backwards and are those of the host, to the nanosecond', async (t) => {
  const file = join(await scratchDirectory(t), 'c.pcap');
  const { send, stop } = await captured(t, { file, format: 'nsecpcap' });
  const before = Date.now();
  for (let number = 0; number < 300; number++) await send(numbered(number));
  await stop(300);
  const after = Date.now();
  const times = framesOf(await readFile(file)).map(({ time }) => time);
  assert.deepEqual(
    times,
    times.toSorted((one, other) => one - other),
  );
  assert.ok(times[0]! / 1e6 >= before - 1 && times.at(-1)! / 1e6 <= after + 1);
  assert.ok(times.some((time) => time % 1000 !== 0));
});

test('64 captures at once record every frame of their own', async (t) => {
  const directory = await scratchDirectory(t);
  const fabric = await startFabric(t);
  const many = await Promise.all(
    Array.from({ length: 64 }, async (_, index) => {
      const one = await emulatorPort(t, fabric);
      await one.port.connect({ kind: 'null' });
      const file = join(directory, `${index}.pcap`);
      await one.port.startCapture({ file, linkType: 'DLT_EN10MB' });
      return { ...one, file };
    }),
  );
  for (let round = 0; round < 20; round++)
    await Promise.all(
      many.map(({ emulator, localPort }, index) => emulator.send(localPort, numbered(index * 100 + round))),
    );
  for (const [index, { port, file }] of many.entries()) {
    await settled(port, ({ capture }) => capture?.frames === 20);
    await port.stopCapture();
    const numbers = framesOf(await readFile(file)).map(({ number }) => number);
    assert.deepEqual(
      numbers,
      Array.from({ length: 20 }, (_, round) => index * 100 + round),
    );
  }
});

test('on a full disk a ring gives up its oldest files and goes on', async (t) => {
  const directory = await scratchFileSystem(t, '256k');
  if (directory === undefined) return;
  // Three files would fit, ten were allowed.
  const ring = { fileBytes: 64 << 10, files: 10 };
  const { send, stop, port } = await captured(t, { file: join(directory, 'c.pcap'), ring });
  for (let number = 0; number < 800; number++) await send(numbered(number, 1000));
  const { capture } = await settled(port, (now) => now.capture?.frames === 800);
  assert.equal(capture?.drops, 0);
  await stop(800);
  const files = (await readdir(directory)).filter((name) => name !== 'c.pcap').sort();
  const numbers: number[] = [];
  for (const name of [...files, 'c.pcap'])
    numbers.push(...framesOf(await readFile(join(directory, name))).map(({ number }) => number));
  assert.equal(numbers.at(-1), 799);
  assert.deepEqual(
    numbers,
    numbers.map((_, index) => numbers[0]! + index),
  );
});
