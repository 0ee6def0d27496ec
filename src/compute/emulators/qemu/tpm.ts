// The TPM of a machine: an additional swtpm process with its state in the node's directory.
import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../../failures.ts';
import { findProgram } from '../../../host/processes/program-path.ts';
import { type CompanionOptions, reattachCompanion, startCompanion } from '../../nodes/lifecycle/companion-program.ts';
import { KEPT } from './kept.ts';
import type { MachineNode } from './machine-node.ts';

/** Relative to the node's directory, which is the machine's working directory. */
export const TPM_SOCKET = 'swtpm.sock';
const STATE = 'tpm';
const PATIENCE_MS = 20_000;
const POLL_MS = 20;

function options(node: MachineNode): Omit<CompanionOptions, 'program' | 'arguments'> {
  return { kind: 'qemu', version: KEPT.version, role: 'tpm', node, services: node.services, log: 'swtpm.log' };
}

/** @throws Failure `conflict` (`QemuError`) if swtpm is missing, or does not start */
export async function startTpm(node: MachineNode, resources: AsyncDisposableStack): Promise<void> {
  const program = await findProgram('swtpm');
  if (program === undefined) throw refusal('tpm: there is no swtpm on this host (Debian: apt install swtpm).');
  const socket = join(node.directory, TPM_SOCKET);
  await mkdir(join(node.directory, STATE), { recursive: true, mode: 0o700 });
  await rm(socket, { force: true });
  resources.defer(() => rm(socket, { force: true }));
  const words = [
    'socket',
    '--tpm2',
    '--tpmstate',
    `dir=${STATE}`,
    '--ctrl',
    `type=unixio,path=${TPM_SOCKET}`,
    '--terminate',
  ];
  const terminal = await startCompanion({ ...options(node), program, arguments: words }, resources);
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
export function reattachTpm(node: MachineNode, resources: AsyncDisposableStack): void {
  resources.defer(() => rm(join(node.directory, TPM_SOCKET), { force: true }));
  reattachCompanion(options(node), resources);
}

function refusal(message: string): Failure {
  return new Failure('conflict', message, { exception: 'QemuError' });
}
