// The state of a running machine, saved in its own disks for a snapshot of the running lab: memory and disks of one
// moment, in files that the snapshot contains anyway. The machine is paused until the state is dropped.
import { messageOf } from '../../../failures.ts';
import { deleteState, saveState } from './machine-state.ts';
import { refusal } from './refusal.ts';
import type { QemuRuntime } from './runtime.ts';

/** Name of the state in the disks. Only a start that requests it loads it; any other drops it. */
export const RUNNING_STATE = 'LABWIRE_RUNNING';

/** @throws Failure `conflict` (`QemuError`) with the reason; the machine then continues */
export async function keepRunningState(runtime: QemuRuntime, name: string): Promise<void> {
  await runtime.pause();
  try {
    await runtime.mustHoldMemory();
    await saveState(runtime.qmp, RUNNING_STATE);
    // Stopping writes out the rest of the disks, which are read next.
    await runtime.qmp.run('stop');
  } catch (error) {
    await dropRunningState(runtime);
    const message = `${name} cannot keep its memory: ${messageOf(error)}`;
    throw refusal(message.replace(/\.?$/, '.'), error);
  }
}

/** The machine continues as before. */
export async function dropRunningState(runtime: QemuRuntime): Promise<void> {
  await forgetRunningState(runtime);
  if (!runtime.isSuspended) await runtime.qmp.run('cont');
}

/** The same for a machine that was paused when the server was killed during a snapshot. Others stay unchanged. */
export async function endInterruptedSnapshot(runtime: QemuRuntime): Promise<void> {
  if (!runtime.isSuspended) return;
  const states = await runtime.qmp.monitor('info snapshots');
  if (!states.includes(RUNNING_STATE)) return;
  await forgetRunningState(runtime);
  await runtime.resume();
}

/** Ignores a missing state. */
export async function forgetRunningState(runtime: QemuRuntime): Promise<void> {
  await deleteState(runtime.qmp, RUNNING_STATE);
}
