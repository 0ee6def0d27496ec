// A receiver of Unix datagrams, as systemd is one: a program that knows nothing of ours.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';

const RECEIVER = `
import json, socket, sys
receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.bind(sys.argv[1].replace('@', '\\0'))
print('"listening"', flush=True)
while True: print(json.dumps(receiver.recv(65536).decode()), flush=True)
`;

/** A datagram socket at `address`; `next()` gives the messages as they come. */
export async function receiver(t: TestContext, address: string): Promise<{ next(): Promise<string> }> {
  const program = spawn('python3', ['-c', RECEIVER, address], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface(program.stdout)[Symbol.asyncIterator]();
  t.after(async () => {
    program.kill();
    await once(program, 'exit');
  });
  const next = async () => JSON.parse((await lines.next()).value ?? '"the receiver has ended"');
  assert.equal(await next(), 'listening');
  return { next };
}

/** For `skip` of a test. */
export const noPython = spawnSync('python3', ['--version']).status === 0 ? false : 'python3 is not installed';
