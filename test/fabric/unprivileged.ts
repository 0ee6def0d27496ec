// A program that tap.test.ts runs as nobody: prints for a new TAP, a TAP of its own and a packet socket why it cannot have them.

import { type Device, Fabric } from '../../src/fabric/fabric.ts';
import type { Failure } from '../../src/failures.ts';

const [tap = '', own = '', packet = ''] = process.argv.slice(2);
const fabric = new Fabric();
await fabric.start();
const devices: Device[] = [
  { kind: 'tap', interface: tap },
  { kind: 'tap', interface: own },
  { kind: 'packet', interface: packet },
];
const answers = [];
for (const device of devices) {
  const failure = await fabric.createPort(device).then(
    () => null,
    ({ code, message }: Failure) => ({ code, message }),
  );
  answers.push(failure);
}
await fabric.stop();
process.stdout.write(JSON.stringify(answers));
