// A server without root's rights beside a Docker Engine: what it says, and what the doctor says, while the Engine's socket does not let it
// in, and when it does and the server may not make interfaces.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { BUSYBOX } from '../compute/docker-engine.ts';
import { Lab, missing } from './lab.ts';
import { container, engineFor } from './machines.ts';
import { NO_RIGHTS, NOBODY, type UnprivilegedDaemon, unprivileged } from './unprivileged.ts';

/** What the doctor says of Docker, asked by the server's user. */
function verdict(daemon: UnprivilegedDaemon): { state: string; detail: string; fix?: string } {
  const [command, ...words] = daemon.program as [string, ...string[]];
  const { stdout } = spawnSync(
    command,
    [...words, 'doctor', '--json', '--state', daemon.state, '--config', daemon.configFile],
    {
      ...{ encoding: 'utf8', cwd: daemon.directory, timeout: 60_000 },
      env: { PATH: process.env['PATH'], HOME: daemon.directory },
    },
  );
  const { findings } = JSON.parse(stdout) as { findings: { subject: string; state: string; detail: string }[] };
  return findings.find(({ subject }) => subject === 'Docker')!;
}

async function trial(t: TestContext): Promise<void> {
  const engine = await engineFor(t);
  if (typeof engine === 'string') return t.skip(engine);
  chmodSync(engine.directory, 0o711);
  chownSync(engine.socketPath, 0, 0);
  const config = `[Docker]\nsocket_path = ${engine.socketPath}\n`;
  const daemon = unprivileged(t, { rights: NO_RIGHTS, config });
  await daemon.start();
  const refused = await daemon.ask('GET', '/v2/compute/docker/images');
  assert.equal(refused.status, 409);
  const fix = /let its user be in the group of .*docker\.sock \(usermod -aG docker labwire\)/;
  assert.match(refused.json.message, fix);
  const first = verdict(daemon);
  assert.equal(first.state, 'warning');
  assert.match(`${first.detail}: ${first.fix}`, fix);

  chownSync(engine.socketPath, 0, NOBODY);
  assert.deepEqual((await daemon.get('/v2/compute/docker/images'))[0], { image: BUSYBOX });
  const lab = await Lab.create(daemon);
  const node = await container(lab, 'C1');
  const start = await daemon.ask('POST', `${lab.path}/nodes/${node.node_id}/start`);
  assert.equal(start.status, 409, start.text);
  assert.match(
    start.json.message,
    /need CAP_SYS_ADMIN and CAP_SYS_PTRACE: run the server as root, or as docs\/docker\.md says/,
  );
  assert.equal(engine.docker('ps', '-q'), '', 'nothing half started');
  const second = verdict(daemon);
  assert.equal(second.state, 'warning');
  assert.match(
    `${second.detail}: ${second.fix}`,
    /has no CAP_NET_ADMIN, CAP_SYS_ADMIN, CAP_SYS_PTRACE.*as docs\/docker\.md says/,
  );
  await daemon.delete(lab.path);
  assert.deepEqual(engine.containers(), []);
}

test(
  "a user who may not use the Engine's socket, or not create interfaces, gets the fix, as the doctor reports it",
  {
    skip: missing('setpriv') || (process.getuid!() === 0 ? false : 'only root can become another user'),
  },
  trial,
);
