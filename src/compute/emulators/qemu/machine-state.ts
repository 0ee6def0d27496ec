// A machine's state saved in its own disks: memory, devices and disks of one moment. UEFI variables are not part of it:
// their file matches what the machine has in memory.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ignore } from '../../../failures.ts';
import type { Qmp } from './qmp.ts';

/** Time limit (ms) for writing or reading the memory, during which QEMU answers nothing. */
export const STATE_MS = 600_000;
const POLL_MS = 20;
/** QEMU's name of the drive with the variables. */
const VARIABLES = 'pflash1';

interface Drive {
  device: string;
  inserted?: { 'node-name': string; ro: boolean; drv: string; image: { snapshots?: { name: string }[] } };
}

interface Job {
  id: string;
  status: string;
  error?: string;
}

/** The writable disks of a running machine, with the names of the states in them. */
async function disksOf(qmp: Qmp): Promise<{ device: string; node: string; format: string; states: string[] }[]> {
  const drives = (await qmp.run('query-block')) as Drive[];
  return drives.flatMap(({ device, inserted }) =>
    inserted && !inserted.ro && device !== VARIABLES
      ? [
          {
            device,
            node: inserted['node-name'],
            format: inserted.drv,
            states: (inserted.image.snapshots ?? []).map(({ name }) => name),
          },
        ]
      : [],
  );
}

/** The disks for a state. @throws Error with the reason if there is none */
async function placeOf(qmp: Qmp): Promise<{ vmstate: string; devices: string[] }> {
  const disks = await disksOf(qmp);
  const other = disks.find(({ format }) => format !== 'qcow2');
  if (other) throw new Error(`its drive ${other.device} is written to and is not qcow2, but ${other.format}`);
  const devices = disks.map(({ node }) => node);
  const [vmstate] = devices;
  if (vmstate === undefined) throw new Error('it has no qcow2 disk of its own in which it could be kept');
  return { vmstate, devices };
}

/** Replaces an existing state of this name. The machine must be paused. @throws Error, Failure with the reason */
export async function saveState(qmp: Qmp, tag: string): Promise<void> {
  const { vmstate, devices } = await placeOf(qmp);
  await runJob(qmp, 'snapshot-delete', { tag, devices });
  await runJob(qmp, 'snapshot-save', { tag, vmstate, devices });
}

/** @throws Error, Failure with the reason */
export async function loadState(qmp: Qmp, tag: string): Promise<void> {
  await runJob(qmp, 'snapshot-load', { tag, ...(await placeOf(qmp)) });
}

/** Ignores a missing state. */
export async function deleteState(qmp: Qmp, tag: string): Promise<void> {
  const devices = (await disksOf(qmp)).filter(({ states }) => states.includes(tag)).map(({ node }) => node);
  if (devices.length > 0) await runJob(qmp, 'snapshot-delete', { tag, devices });
}

/** QEMU answers no commands while it saves or loads. */
async function runJob(qmp: Qmp, command: string, given: object): Promise<void> {
  const id = `labwire-${randomUUID()}`;
  await qmp.run(command, { 'job-id': id, ...given }, STATE_MS);
  await awaitJob(qmp, id);
}

/** Resolves at the end of a job, which is then dismissed. @throws Error with its reason, the reason of `signal`, which cancels it */
export async function awaitJob(qmp: Qmp, id: string, signal?: AbortSignal): Promise<void> {
  for (let isCancelled = false; ; ) {
    const job = (await jobsOf(qmp)).find((each) => each.id === id);
    if (job && job.status !== 'concluded') {
      if (signal?.aborted && !isCancelled) {
        isCancelled = true;
        await qmp.run('job-cancel', { id }).catch(ignore);
      }
      await sleep(POLL_MS);
      continue;
    }
    if (job) await qmp.run('job-dismiss', { id });
    signal?.throwIfAborted();
    if (job?.error !== undefined) throw new Error(job.error);
    return;
  }
}

/** Ends jobs that a former run of the server has left. */
export async function endJobs(qmp: Qmp, prefix: string): Promise<void> {
  for (const { id, status } of await jobsOf(qmp)) {
    if (!id.startsWith(prefix)) continue;
    if (status !== 'concluded') await qmp.run('job-cancel', { id }).catch(ignore);
    await awaitJob(qmp, id).catch(ignore);
  }
}

async function jobsOf(qmp: Qmp): Promise<Job[]> {
  return (await qmp.run('query-jobs', {}, STATE_MS)) as Job[];
}
