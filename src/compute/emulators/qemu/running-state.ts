// The state of a machine that runs, kept in its own disks for a snapshot of the running lab: memory and disks of one moment, in files
// that the snapshot holds anyway. The machine stands still until the state is dropped again.
import { Failure, messageOf } from '../../../failures.ts';
import { deleteState, saveState } from './machine-state.ts';
import type { QemuRuntime } from './runtime.ts';

/** Under this name the state lies in the disks. Only a start that asks for it loads it; any other forgets it. */
export const RUNNING_STATE = 'LABWIRE_RUNNING';

/** @throws Failure `conflict` (`QemuError`) with the reason; the machine goes on as before then */
export async function keepRunningState(runtime: QemuRuntime, name: string): Promise<void> {
  await runtime.pause();
  try {
    await runtime.mustHoldMemory();
    await saveState(runtime.qmp, RUNNING_STATE);
    // Stopping has the disks written out, as far as saving the state has left something: they are read next.
    await runtime.qmp.run('stop');
  } catch (error) {
    await dropRunningState(runtime);
    const message = `${name} cannot keep its memory: ${messageOf(error)}`;
    throw new Failure('conflict', message.replace(/\.?$/, '.'), { exception: 'QemuError', cause: error });
  }
}

/** The machine goes on as it was before. */
export async function dropRunningState(runtime: QemuRuntime): Promise<void> {
  await forgetRunningState(runtime);
  if (!runtime.isSuspended) await runtime.qmp.run('cont');
}

/** The same for a machine that stood still when the server was killed in the middle of a snapshot; others stay as they are. */
export async function endInterruptedSnapshot(runtime: QemuRuntime): Promise<void> {
  if (!runtime.isSuspended) return;
  const states = await runtime.qmp.monitor('info snapshots');
  if (!states.includes(RUNNING_STATE)) return;
  await forgetRunningState(runtime);
  await runtime.resume();
}

/** Where there is none, nothing happens. */
export async function forgetRunningState(runtime: QemuRuntime): Promise<void> {
  await deleteState(runtime.qmp, RUNNING_STATE);
}
