// Searches a router's idle value: the address in its image where it waits for work, so that the emulator can sleep
// there instead of using CPU time.
import { setTimeout as sleep } from 'node:timers/promises';
import { refusal } from './platforms.ts';
import type { RouterRuntime } from './runtime.ts';

/** How long a router that was just switched on may take to become idle. */
const BOOT_MS = 20_000;
/** The emulator samples the router's processor a thousand times. */
const MEASURE_MS = 90_000;
const TRY_MS = 3_000;
/** Of one processor: a value with which the router uses less is good. */
const MOST_PER_CENT = 70;

export interface IdleSearch {
  /** Called with progress messages. */
  tell(progress: string): void;
  /** Aborted when the result is not needed any more. */
  signal: AbortSignal;
}

/** Waits for a router to become idle. */
export async function waitForBoot({ tell, signal }: IdleSearch): Promise<void> {
  tell(`is given ${BOOT_MS / 1000} s to start before its idle value is searched`);
  await pause(BOOT_MS, signal);
}

/**
 * Lines `0x60608040 [58]`: an address, and how often the router was found there. The router has no idle value
 * meanwhile.
 */
export async function idleProposals(runtime: RouterRuntime, { tell, signal }: IdleSearch): Promise<string[]> {
  mustGoOn(signal);
  tell('is watched for its idle value');
  const { hypervisor, kept } = runtime;
  await runtime.vm('set_idle_pc_online', 0, '0x0');
  const { lines } = await hypervisor.run('vm get_idle_pc_prop', [kept.vm_name, 0], MEASURE_MS);
  return lines.map((line) => line.trim()).filter((line) => line.startsWith('0x'));
}

/**
 * Tries the proposals one after the other and keeps the first good one.
 * @throws Failure `conflict` (`DynamipsError`) if none is good
 */
export async function findIdleValue(runtime: RouterRuntime, search: IdleSearch): Promise<string> {
  const { tell, signal } = search;
  const proposals = await idleProposals(runtime, search);
  const values = proposals.map((line) => line.split(/\s/)[0]!).filter((value) => /^0x[0-9a-f]{8}$/.test(value));
  if (values.length === 0) {
    throw refusal(
      'No idle value was found: the router must have come to rest. Start it, wait for its prompt, and search again.',
    );
  }
  for (const [index, value] of values.entries()) {
    mustGoOn(signal);
    await runtime.vm('set_idle_pc_online', 0, value);
    const usage = await measured(runtime, signal);
    tell(`takes ${Math.round(usage)} % of a processor with the idle value ${value} (${index + 1} of ${values.length})`);
    if (usage < MOST_PER_CENT) return value;
  }
  throw refusal(
    `None of ${values.length} idle values helps: wait until the router has come to rest, and search again.`,
  );
}

/** CPU use of the emulator, in per cent of a processor. */
async function measured(runtime: RouterRuntime, signal: AbortSignal): Promise<number> {
  const seconds = async (): Promise<number> => {
    const { lines, text } = await runtime.vm('cpu_usage', 0);
    return Number.parseFloat(lines.at(-1) ?? text);
  };
  const before = await seconds();
  const from = performance.now();
  await pause(TRY_MS, signal);
  const after = await seconds();
  return (Math.abs(after - before) * 100_000) / (performance.now() - from);
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => {});
  mustGoOn(signal);
}

function mustGoOn(signal: AbortSignal): void {
  if (!signal.aborted) return;
  throw refusal('The search for an idle value was ended.');
}
