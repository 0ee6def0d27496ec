// Program of the test of a full disk: captures more than its file may hold, and tells what became of it.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { Fabric } from '../../src/fabric/fabric.ts';
import { freePort } from './peers.ts';

const fabric = new Fabric();
await fabric.start();
const emulator = createSocket('udp4');
emulator.bind(0, '127.0.0.1');
await once(emulator, 'listening');
const peer = createSocket('udp4');
peer.bind(0, '127.0.0.1');
await once(peer, 'listening');
const [device, cable] = [await freePort(), await freePort()];
const remoteHost = '127.0.0.1';
const port = await fabric.createPort({
  kind: 'udp',
  localPort: device,
  remoteHost,
  remotePort: emulator.address().port,
});
await port.connect({ kind: 'udp', localPort: cable, remoteHost, remotePort: peer.address().port });
const file = process.argv[2]!;
const failed = once(fabric, 'capture-failed');
await port.startCapture({ file, linkType: 'DLT_EN10MB' });
for (let sent = 0; sent < 12; sent++) emulator.send(Buffer.alloc(1500, 7), device, remoteHost);
const [event] = await failed;
const heard = new Promise<string>((resolve) => {
  peer.on('message', (frame) => {
    if (frame.length !== 1500) resolve(frame.toString());
  });
});
emulator.send('after the failure', device, remoteHost);
process.stdout.write(JSON.stringify({ failed: event.file, code: event.failure.code, delivered: await heard }));
emulator.close();
peer.close();
await fabric.stop();
