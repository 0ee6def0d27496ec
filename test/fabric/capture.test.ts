import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { CaptureChunk } from '../../src/fabric/capture-chunk.ts';
import { CaptureFile } from '../../src/fabric/capture-file.ts';
import { pcapng } from '../../src/fabric/pcapng.ts';
import { scratchDirectory, scratchFileSystem } from '../store/scratch.ts';
import { emulatorPort, ends, hubPort, peerWithCable, settled, startFabric, until } from './peers.ts';

const run = promisify(execFile);

async function directory(t: TestContext): Promise<string> {
  const path = await scratchDirectory(t);
  return path;
}

/** The whole frames of a pcap file, which may be being written. */
function framesOf(file: Buffer): Buffer[] {
  const frames = [];
  for (let offset = 24; offset + 16 <= file.length; ) {
    const end = offset + 16 + file.readUInt32LE(offset + 8);
    if (end <= file.length) frames.push(file.subarray(offset + 16, end));
    offset = end;
  }
  return frames;
}

/** Waits until the file holds `count` frames. */
async function growTo(file: string, count: number): Promise<Buffer[]> {
  return await until(async () => {
    const frames = framesOf(await readFile(file));
    return frames.length >= count && frames;
  });
}

/** A broadcast ARP request of a host with the last address byte `host`. */
function arpRequest(host: number): Buffer {
  const mac = `0050796668${host.toString(16).padStart(2, '0')}`;
  const address = `0a0101${host.toString(16).padStart(2, '0')}`;
  const text = `ffffffffffff${mac}0806${'0001080006040001'}${mac}${address}0000000000000a0101fe`;
  return Buffer.concat([Buffer.from(text, 'hex'), Buffer.alloc(18)]);
}

test('a capture holds the frames of both directions as they passed', async (t) => {
  const file = join(await directory(t), 'both.pcap');
  const fabric = await startFabric(t);
  const { emulator, port, localPort } = await emulatorPort(t, fabric);
  const { peer, cable } = await peerWithCable(t);
  await port.connect(cable);
  const start = Date.now();
  await port.startCapture({ file, linkType: 'DLT_EN10MB' });
  await emulator.send(localPort, 'out');
  await peer.take(1);
  await peer.send(cable.localPort, 'in', Buffer.alloc(65_507, 9));
  await emulator.take(2);
  await port.stopCapture();
  const content = await readFile(file);
  assert.deepEqual(framesOf(content), [Buffer.from('out'), Buffer.from('in'), Buffer.alloc(65_507, 9)]);
  const time = content.readUInt32LE(24) * 1000 + content.readUInt32LE(28) / 1000;
  assert.ok(time >= start - 1 && time <= Date.now() + 1, 'the time is that of the frame');
  await emulator.send(localPort, 'after the end');
  await peer.take(1);
  assert.equal((await stat(file)).size, content.length);
});

test('a reader can follow a capture that grows', async (t) => {
  const file = join(await directory(t), 'growing.pcap');
  const fabric = await startFabric(t);
  const { emulator, port, localPort } = await emulatorPort(t, fabric);
  await port.connect({ kind: 'null' });
  await port.startCapture({ file, linkType: 'DLT_PPP_SERIAL' });
  const header = await readFile(file);
  assert.deepEqual([header.length, header.readUInt32LE(20)], [24, 50]);
  await emulator.send(localPort, 'first');
  assert.deepEqual((await growTo(file, 1)).map(String), ['first']);
  await emulator.send(localPort, 'second');
  assert.deepEqual((await growTo(file, 2)).map(String), ['first', 'second']);
  await port.close();
});

test('tshark reads a capture, complete and while it grows', async (t) => {
  const version = await run('tshark', ['--version']).catch(() => undefined);
  if (version === undefined) return t.skip('tshark is not installed');
  const file = join(await directory(t), 'hub.pcap');
  const fabric = await startFabric(t);
  const hub = await fabric.createDevice('hub', {});
  const [a, b] = [await hubPort(t, fabric, hub), await hubPort(t, fabric, hub)];
  await b.port.startCapture({ file, linkType: 'DLT_EN10MB' });
  const senders = async (): Promise<string[]> => {
    const { stdout } = await run('tshark', ['-r', file, '-T', 'fields', '-e', 'arp.src.proto_ipv4']);
    return stdout.trim().split('\n');
  };
  await a.peer.send(a.localPort, arpRequest(1), arpRequest(2));
  await growTo(file, 2);
  assert.deepEqual(await senders(), ['10.1.1.1', '10.1.1.2']);
  await a.peer.send(a.localPort, arpRequest(3));
  await b.peer.take(3);
  await b.port.stopCapture();
  assert.deepEqual(await senders(), ['10.1.1.1', '10.1.1.2', '10.1.1.3']);
});

test('a capture is armed without a cable, and outlives cables and emulators', async (t) => {
  const file = join(await directory(t), 'armed.pcap');
  const fabric = await startFabric(t);
  const port = await fabric.createPort(null);
  await port.startCapture({ file, linkType: 'DLT_EN10MB' });
  const { peer: emulator, cable: device } = await peerWithCable(t);
  await port.setDevice(device);
  for (const frame of ['over the first cable', 'over the second cable']) {
    const { peer, cable } = await peerWithCable(t);
    await port.connect(cable);
    await emulator.send(device.localPort, frame);
    await peer.take(1);
    await port.disconnect();
  }
  await port.setDevice(null);
  await port.stopCapture();
  assert.deepEqual(framesOf(await readFile(file)).map(String), ['over the first cable', 'over the second cable']);
});

test('a capture shows what impairments leave, and each end of a fused cable has its own', async (t) => {
  const path = await directory(t);
  const fabric = await startFabric(t);
  const [a, b] = [await emulatorPort(t, fabric), await emulatorPort(t, fabric)];
  const [near, far] = await ends();
  await a.port.connect(near, { frequencyDrop: 2 });
  await b.port.connect(far);
  await a.port.startCapture({ file: join(path, 'a.pcap'), linkType: 'DLT_EN10MB' });
  await b.port.startCapture({ file: join(path, 'b.pcap'), linkType: 'DLT_EN10MB' });
  await a.emulator.send(a.localPort, '1', '2', '3');
  await b.emulator.take(2);
  await a.port.stopCapture();
  await b.port.stopCapture();
  for (const name of ['a.pcap', 'b.pcap'])
    assert.deepEqual(framesOf(await readFile(join(path, name))).map(String), ['1', '3']);
});

test('stopping the fabric completes its captures', async (t) => {
  const file = join(await directory(t), 'stopped.pcap');
  const fabric = await startFabric(t);
  const { emulator, port, localPort } = await emulatorPort(t, fabric);
  const { peer, cable } = await peerWithCable(t);
  await port.connect(cable);
  await port.startCapture({ file, linkType: 'DLT_EN10MB' });
  await emulator.send(localPort, 'the last frame');
  await peer.take(1);
  await fabric.stop();
  assert.deepEqual(framesOf(await readFile(file)).map(String), ['the last frame']);
});

test('a second capture of a port is refused, and a later one is not', async (t) => {
  const path = await directory(t);
  const fabric = await startFabric(t);
  const port = await fabric.createPort(null);
  await port.startCapture({ file: join(path, 'one.pcap'), linkType: 'DLT_EN10MB' });
  await assert.rejects(port.startCapture({ file: join(path, 'two.pcap'), linkType: 'DLT_EN10MB' }), {
    code: 'conflict',
  });
  await port.stopCapture();
  await port.stopCapture();
  await port.startCapture({ file: join(path, 'two.pcap'), linkType: 'DLT_EN10MB' });
  await port.stopCapture();
});

test('a capture never writes through a symbolic link, nor into a pipe or a directory', async (t) => {
  const path = await directory(t);
  await writeFile(join(path, 'precious'), 'precious');
  await symlink('precious', join(path, 'link.pcap'));
  await run('mkfifo', [join(path, 'pipe.pcap')]);
  const port = await (await startFabric(t)).createPort(null);
  for (const name of ['link.pcap', 'pipe.pcap', '.', 'no/such/directory.pcap']) {
    await assert.rejects(port.startCapture({ file: join(path, name), linkType: 'DLT_EN10MB' }), {
      name: 'Failure',
      code: 'conflict',
      message: new RegExp(join(path, name).replaceAll('.', '\\.')),
    });
  }
  assert.equal(await readFile(join(path, 'precious'), 'utf8'), 'precious');
  await port.startCapture({ file: join(path, 'good.pcap'), linkType: 'DLT_EN10MB' });
});

test('a capture that is not written in time loses frames of its own, counts them, and never holds up the cable', async (t) => {
  const file = join(await directory(t), 'slow.pcap');
  const fabric = await startFabric(t);
  const { peer, cable } = await peerWithCable(t);
  const port = await fabric.createPort(null);
  await port.connect(cable);
  await port.startCapture({ file, linkType: 'DLT_EN10MB' });
  // While this thread stands still, as a slow disk would let it, 30 MB pass; the capture may keep 16 MiB waiting.
  await peer.release();
  const program = `
    const socket = require('node:dgram').createSocket('udp4');
    const send = (left) => {
      if (left === 0) socket.close();
      else socket.send(Buffer.alloc(60_000), ${cable.localPort}, '127.0.0.1', () => setTimeout(send, 1, left - 1));
    };
    socket.bind(${peer.port}, '127.0.0.1', () => send(500));`;
  execFileSync(process.execPath, ['-e', program]);
  const { capture, drops } = await settled(port, (all) => all.drops.noDevice + all.drops.receiveQueue === 500);
  const captureDrops = capture!.drops;
  assert.ok(captureDrops > 0 && captureDrops < 500 - 250, `${captureDrops} frames were not captured`);
  await port.stopCapture();
  assert.equal(framesOf(await readFile(file)).length, drops.noDevice - captureDrops);
});

test('a full disk ends the capture with whole packets and a reason; the cable carries on', async (t) => {
  const file = join(await directory(t), 'full.pcap');
  // A limit of the shell stands for the disk: files end at 8 blocks of 512 or 1,024 bytes.
  const program = join(import.meta.dirname, 'full-disk.ts');
  const child = spawn('sh', ['-c', `trap '' XFSZ; ulimit -f 8; exec "$0" "$@"`, process.execPath, program, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const output: Buffer[] = [];
  child.stdout.on('data', (data) => output.push(data));
  await once(child, 'close');
  const { failed, code, delivered } = JSON.parse(Buffer.concat(output).toString());
  assert.deepEqual([failed, code, delivered], [file, 'out-of-space', 'after the failure']);
  const content = await readFile(file);
  const frames = framesOf(content);
  assert.ok(frames.length >= 1);
  assert.equal(content.length, 24 + frames.length * (16 + 1500));
  for (const frame of frames) assert.deepEqual(frame, Buffer.alloc(1500, 7));
});

test('a full disk ends a busy capture once, and who reads it gets what the file has', async (t) => {
  const place = await scratchFileSystem(t, '700k');
  if (place === undefined) return;
  const path = join(place, 'busy.pcap');
  let failures = 0;
  const file = await CaptureFile.create({ file: path, linkType: 'DLT_EN10MB', format: 'pcapng' }, () => failures++);
  const reader = file.reader();
  const read = (async () => {
    let bytes = 0;
    // Slower than what is written, so that the reader is behind when the disk is full.
    for (let part = await reader.read(); part; part = await reader.read()) {
      bytes += part.length;
      await sleep(30);
    }
    return bytes;
  })();
  for (let sent = 0; sent < 60; sent++) {
    const chunk = new CaptureChunk();
    let length = 0;
    while (length + 1100 < chunk.records.length)
      length = pcapng.write(
        chunk.records,
        length,
        { seconds: 1, nanoseconds: 1 },
        Buffer.alloc(1000),
        1000,
        1000,
        true,
      );
    chunk.lend({ frames: 1, bytes: 1, drops: 0, filtered: 0 });
    file.append(chunk.memory, length);
    await setImmediate();
  }
  assert.equal(await read, (await stat(path)).size);
  assert.equal(failures, 1);
});
