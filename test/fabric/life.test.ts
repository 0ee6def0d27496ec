import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { Fabric } from '../../src/fabric/fabric.ts';
import { freePort, Peer, peerWithCable } from './peers.ts';

test('a process with a fabric ends at once when it is asked to exit', async () => {
  const program = `
    import { Fabric } from ${JSON.stringify(join(import.meta.dirname, '../../src/fabric/fabric.ts'))};
    await new Fabric().start();
    process.exit(7);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'inherit', timeout: 120_000 });
  assert.deepEqual(await once(child, 'exit'), [7, null]);
});

test('stopping gives back every descriptor and lets the process end', async () => {
  const program = `
    import { readdirSync } from 'node:fs';
    import { Fabric } from ${JSON.stringify(join(import.meta.dirname, '../../src/fabric/fabric.ts'))};
    const count = () => readdirSync('/proc/self/fd').length;
    // Node itself opens a file in the first round.
    let before;
    for (let round = 0; round < 3; round++) {
      if (round === 1) before = count();
      const fabric = new Fabric();
      await fabric.start();
      const hub = await fabric.createDevice('hub', {});
      for (const localPort of JSON.parse(process.argv[1])) {
        const port = await fabric.createPort({ kind: 'memory', device: hub, number: 0 });
        await port.connect({ kind: 'udp', localPort, remoteHost: '127.0.0.1', remotePort: 9 });
      }
      await fabric.stop();
    }
    console.log(count() - before);`;
  const ports = JSON.stringify([await freePort(), await freePort()]);
  const options = { timeout: 120_000 };
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', program, ports],
    options,
  );
  assert.equal(stdout, '0\n');
});

test('ports come and go by the thousand without leaving a socket behind', async (t) => {
  const fabric = new Fabric();
  await fabric.start();
  t.after(() => fabric.stop());
  const hub = await fabric.createDevice('hub', {});
  const { peer, cable } = await peerWithCable(t);
  const count = (): number => readdirSync('/proc/self/fd').length;
  const before = count();
  for (let round = 0; round < 1000; round++) {
    const port = await fabric.createPort({ kind: 'memory', device: hub, number: 0 });
    await port.connect(cable);
    await port.close();
  }
  assert.equal(count(), before);
  const [a, b] = [
    await fabric.createPort({ kind: 'memory', device: hub, number: 0 }),
    await fabric.createPort({ kind: 'memory', device: hub, number: 0 }),
  ];
  await a.connect(cable);
  const other = await Peer.open(t);
  const localPort = await freePort();
  await b.connect({ kind: 'udp', localPort, remoteHost: '127.0.0.1', remotePort: other.port });
  await other.send(localPort, 'still here');
  assert.deepEqual(await peer.takeText(), ['still here']);
});
