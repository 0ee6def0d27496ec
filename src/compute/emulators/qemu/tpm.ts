// The TPM of a machine: an additional swtpm process with its state in the node's directory.
import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findProgram } from '../../../host/processes/program-path.ts';
import { type Companion, reattachCompanion, startCompanion } from '../../nodes/lifecycle/node-program.ts';
import { KEPT } from './kept.ts';
import type { MachineOwner } from './qemu-host.ts';
import { refusal } from './refusal.ts';

/** Relative to the node's directory, which is the machine's working directory. */
export const TPM_SOCKET = 'swtpm.sock';
const STATE = 'tpm';
const PATIENCE_MS = 20_000;
const POLL_MS = 20;

function companion(node: MachineOwner): Companion {
  return { kind: 'qemu', version: KEPT.version, role: 'tpm', node, log: 'swtpm.log' };
}

/** @throws Failure `conflict` (`QemuError`) if swtpm is missing, or does not start */
export async function startTpm(node: MachineOwner, resources: AsyncDisposableStack): Promise<void> {
  const program = await findProgram('swtpm');
  if (program === undefined) throw refusal('tpm: there is no swtpm on this host (Debian: apt install swtpm).');
  const socket = join(node.directory, TPM_SOCKET);
  await mkdir(join(node.directory, STATE), { recursive: true, mode: 0o700 });
  await rm(socket, { force: true });
  resources.defer(() => rm(socket, { force: true }));
  const command = [
    program,
    'socket',
    '--tpm2',
    '--tpmstate',
    `dir=${STATE}`,
    '--ctrl',
    `type=unixio,path=${TPM_SOCKET}`,
    '--terminate',
  ];
  const terminal = await startCompanion(companion(node), command, resources);
  let isOver = false;
  terminal.once('exit', () => {
    isOver = true;
  });
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await stat(socket).catch(() => undefined))) {
    if (isOver || performance.now() > deadline) throw refusal(`tpm: swtpm does not start: ${terminal.lastOutput()}`);
    await sleep(POLL_MS);
  }
}

/** Reattaches a TPM that outlived the server with its machine. */
export function reattachTpm(node: MachineOwner, resources: AsyncDisposableStack): void {
  resources.defer(() => rm(join(node.directory, TPM_SOCKET), { force: true }));
  reattachCompanion(companion(node), resources);
}
