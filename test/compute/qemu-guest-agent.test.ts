// Copies of disks for which Debian's guest agent freezes the file systems of a real guest.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { GuestAgent, whileFrozen } from '../../src/compute/emulators/qemu/guest-agent.ts';
import { findProgram } from '../../src/host/processes/program-path.ts';
import { until } from '../controller/lab-server.ts';
import { copyGuest, guestSettings, noGuestAgent, Typist } from '../guest/guest.ts';
import { machines, noQemu, SMALL } from './qemu-support.ts';

const skip =
  noQemu || noGuestAgent || ((await findProgram('mkfs.ext4')) === undefined ? 'mkfs.ext4 is not installed' : false);
const START_AGENT =
  '/agent/qemu-ga -d -m virtio-serial -p /dev/$(basename $(dirname $(grep -l guest_agent /sys/class/virtio-ports/*/name))) -t /tmp -f /tmp/agent.pid';

/** A guest that has mounted its disk, an ext4 file system, and runs its agent. */
async function guest(t: TestContext) {
  const { lab, project, directory, images } = await machines(t);
  await copyGuest(images, { withAgent: true });
  const image = join(images, 'data.img');
  execFileSync('truncate', ['-s', '32M', image]);
  execFileSync('mkfs.ext4', ['-q', image]);
  const create = async (name: string) => {
    const { node_id } = await lab.expect(201, 'POST', `${project}/qemu/nodes`, {
      ...{ ...SMALL, ...guestSettings('10.0.0.1/24') },
      ...{ name, hda_disk_image: 'data.img', hda_disk_interface: 'virtio', guest_agent: true },
    });
    return { path: `${project}/qemu/nodes/${node_id}`, own: join(directory, 'project-files/qemu', node_id) };
  };
  const one = await create('One');
  const { console, guest_agent, command_line } = await lab.expect(200, 'POST', `${one.path}/start`);
  assert.equal(guest_agent, true);
  assert.match(command_line, /org\.qemu\.guest_agent\.0/);
  const shell = new Typist(t, console);
  await shell.until(/guest is ready/);
  await shell.run('/agent/modules; mkdir /mnt; mount -t ext4 /dev/vda /mnt');
  const checkpoint = () => lab.expect(204, 'POST', `${one.path}/checkpoint`);
  /** The disk of the last copy, as a machine elsewhere begins with it, and whether its journal must be read first. */
  const copied = async (name: string) => {
    const two = await create(name);
    await cp(join(one.own, 'disk-checkpoint'), join(two.own, 'restored-disks'), { recursive: true });
    await lab.expect(200, 'POST', `${two.path}/start`);
    await lab.expect(204, 'POST', `${two.path}/stop`);
    const raw = join(two.own, 'raw');
    execFileSync('qemu-img', ['convert', '-O', 'raw', join(two.own, 'hda_disk.qcow2'), raw]);
    const file = execFileSync('debugfs', ['-R', 'cat /file', raw], { stdio: ['ignore', 'pipe', 'ignore'] });
    const head = execFileSync('dumpe2fs', ['-h', raw], { stdio: ['ignore', 'pipe', 'ignore'] });
    return { file: file.toString(), needsRecovery: head.toString().includes('needs_recovery') };
  };
  const status = async (): Promise<unknown> => {
    using agent = await GuestAgent.reach(one.own);
    return await agent?.run('guest-fsfreeze-status', 5_000);
  };
  const startAgent = async (): Promise<void> => {
    await shell.run(START_AGENT);
    await until(async () => (await status()) === 'thawed', 'the agent');
  };
  return { one, shell, startAgent, checkpoint, copied, status };
}

test('a copy has what a guest with an agent has written so far, in a file system that is whole', {
  skip,
}, async (t) => {
  const { shell, startAgent, checkpoint, copied, status } = await guest(t);
  await shell.run('echo first > /mnt/file');
  // No agent answers: the copy is made all the same.
  await checkpoint();
  assert.deepEqual(await copied('Plain'), { file: '', needsRecovery: true });
  await startAgent();
  await shell.run('echo second > /mnt/file');
  await checkpoint();
  assert.deepEqual(await copied('Frozen'), { file: 'second\n', needsRecovery: false });
  assert.equal(await status(), 'thawed');
  assert.match(await shell.run('echo third > /mnt/file && sync && cat /mnt/file'), /third[\s\S]*done 0/);
});

test('file systems are thawed after an error, and those that a killed server has left frozen', { skip }, async (t) => {
  const { one, shell, startAgent, checkpoint, status } = await guest(t);
  await startAgent();
  const warnings: string[] = [];
  const act = async (): Promise<void> => {
    throw new Error('the copy fails');
  };
  await assert.rejects(
    whileFrozen(one.own, act, (message) => void warnings.push(message)),
    /the copy fails/,
  );
  assert.deepEqual([await status(), warnings], ['thawed', []]);
  {
    using agent = await GuestAgent.reach(one.own);
    assert.ok(Number(await agent?.run('guest-fsfreeze-freeze', 10_000)) > 0);
  }
  assert.equal(await status(), 'frozen');
  await shell.run('(echo waits > /mnt/file &)');
  await checkpoint();
  assert.equal(await status(), 'thawed');
  assert.match(await shell.run('cat /mnt/file'), /waits/);
});
