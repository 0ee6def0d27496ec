// sd_notify(3): tells systemd that the daemon is ready, stopping, alive, and what it is doing. Without systemd nothing is sent.
import { messageOf } from '../../failures.ts';
import { log } from '../log.ts';
import { sendUnixDatagram } from '../system-calls.ts';

/** What systemd hands to a service of Type=notify, as it stands in the environment. */
export interface NotifyEnvironment {
  /** `NOTIFY_SOCKET`: a path, or an abstract address after `@`. */
  socket: string | undefined;
  /** `WATCHDOG_USEC`: systemd kills the daemon when it has heard nothing for so many microseconds. */
  watchdogMicroseconds?: string | undefined;
  /** `WATCHDOG_PID`: the process of which the watchdog expects its signs of life; any when not given. */
  watchdogPid?: string | undefined;
}

export interface Notifier {
  /** Start-up is complete; from now on the watchdog is fed while the event loop turns. */
  ready(): void;
  /** The daemon is shutting down. */
  stopping(): void;
  /** One line for `systemctl status`. */
  status(text: string): void;
  /** No more signs of life. */
  close(): void;
}

/** The interval in milliseconds at which the watchdog is to be fed: half of what systemd allows; undefined without a watchdog. */
function watchdogInterval({ watchdogMicroseconds, watchdogPid }: NotifyEnvironment): number | undefined {
  const microseconds = Number(watchdogMicroseconds);
  if (!Number.isSafeInteger(microseconds) || microseconds <= 0) return undefined;
  if (watchdogPid !== undefined && Number(watchdogPid) !== process.pid) return undefined;
  return Math.max(1, Math.floor(microseconds / 2000));
}

export function createNotifier(environment: NotifyEnvironment): Notifier {
  const { socket } = environment;
  let watchdog: NodeJS.Timeout | undefined;
  let refused = false;

  const send = (...lines: string[]): void => {
    if (socket === undefined || socket === '') return;
    try {
      sendUnixDatagram(socket, Buffer.from(lines.join('\n')));
    } catch (error) {
      // A service manager that does not listen is no reason to stop a lab; said once, since the watchdog would repeat it.
      if (!refused) log.warn('systemd does not take notifications', { socket, reason: messageOf(error) });
      refused = true;
    }
  };

  return {
    ready: () => {
      send('READY=1');
      const interval = watchdogInterval(environment);
      if (interval === undefined || socket === undefined || watchdog !== undefined) return;
      // On the event loop, so that a loop that hangs falls silent; unreferenced, so that it keeps no process alive.
      watchdog = setInterval(() => send('WATCHDOG=1'), interval).unref();
    },
    stopping: () => send('STOPPING=1'),
    status: (text) => send(`STATUS=${text.replaceAll('\n', ' ')}`),
    close: () => clearInterval(watchdog),
  };
}
