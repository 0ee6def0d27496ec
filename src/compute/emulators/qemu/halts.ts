// Finds and explains, by QMP, machines that QEMU has halted or another program has paused.
import type { Qmp } from './qmp.ts';

/** Why a machine does not run. */
export interface Halt {
  /** One sentence without a full stop: what happened, and the last output of QEMU. */
  reason: string;
  /** The fix. */
  fix: string;
  /** It cannot resume without a reset. */
  needsReset: boolean;
}

/** States in which a machine runs, will run soon, or waits for a state transfer. */
const PASSING = new Set([
  ...['running', 'prelaunch', 'suspended', 'save-vm', 'restore-vm'],
  ...['inmigrate', 'postmigrate', 'finish-migrate', 'debug', 'colo'],
]);
const KVM_ERROR = /KVM/;

export interface HaltContext {
  qmp: Qmp;
  /** We have paused it. */
  isOurPause(): boolean;
  /** The disk error that halted it. */
  diskError(): string | undefined;
  /** The end of QEMU's output. */
  lastWords(): string;
}

/** Why the machine is halted; undefined if it runs, or its user has suspended it. */
export async function findHalt(context: HaltContext): Promise<Halt | undefined> {
  const { status } = (await context.qmp.run('query-status')) as { status: string };
  if (PASSING.has(status) || (status === 'paused' && context.isOurPause())) return undefined;
  return explained(status, context);
}

function explained(status: string, { diskError, lastWords }: HaltContext): Halt {
  const restart = 'reload the node to start it again';
  switch (status) {
    case 'paused':
      return { reason: 'another program has paused it', fix: 'start the node to let it go on', needsReset: false };
    case 'io-error': {
      const reason = diskError() ?? 'a disk of it has an error';
      return { reason, fix: 'mend the disk, then start the node to let it go on', needsReset: false };
    }
    case 'guest-panicked':
      return { reason: 'the guest has panicked', fix: restart, needsReset: true };
    case 'watchdog':
      return { reason: 'the watchdog of the guest has expired', fix: restart, needsReset: true };
    case 'shutdown':
      return { reason: 'the guest has shut down (-no-shutdown)', fix: restart, needsReset: true };
    case 'internal-error': {
      const words = tellingLine(lastWords());
      const emulate = 'set its options to "-machine accel=tcg" when this happens again';
      const fix = KVM_ERROR.test(words) ? `${restart}, and ${emulate}` : restart;
      return { reason: words === '' ? 'an internal error of QEMU' : words.replace(/\.$/, ''), fix, needsReset: true };
    }
    default:
      return { reason: `QEMU says "${status}"`, fix: restart, needsReset: true };
  }
}

/** The last line with an error: register dumps may follow it. */
function tellingLine(output: string): string {
  const lines = output.split(/\r?\n/).map((line) => line.trim());
  const told = lines.findLast((line) => /error|fail|fault|abort/i.test(line)) ?? lines.findLast((line) => line !== '');
  return (told ?? '').slice(0, 200);
}
