// sd_notify(3): notifies systemd that the daemon is ready, stopping or alive, and of its status. Without systemd
// nothing is sent.
import { messageOf } from '../../failures.ts';
import { log } from '../log.ts';
import { sendUnixDatagram } from '../system-calls.ts';

/** The environment variables that systemd sets for a service of Type=notify. */
export interface NotifyEnvironment {
  /** `NOTIFY_SOCKET`: a path, or an abstract address after `@`. */
  socket: string | undefined;
  /** `WATCHDOG_USEC`: systemd kills the daemon after so many microseconds without a notification. */
  watchdogMicroseconds?: string | undefined;
  /** `WATCHDOG_PID`: the process that has to notify the watchdog; any process if not set. */
  watchdogPid?: string | undefined;
}

export interface Notifier {
  /** The start is complete. From now on the watchdog is notified while the event loop runs. */
  ready(): void;
  /** The daemon is shutting down. */
  stopping(): void;
  /** One line for `systemctl status`. */
  status(text: string): void;
  /** Stops notifying the watchdog. */
  close(): void;
}

/** The interval (ms) of watchdog notifications: half of systemd's limit; undefined without a watchdog. */
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
      // An unreachable service manager is no reason to stop a lab. Logged once, because the watchdog would repeat it.
      if (!refused) log.warn('systemd does not take notifications', { socket, reason: messageOf(error) });
      refused = true;
    }
  };

  return {
    ready: () => {
      send('READY=1');
      const interval = watchdogInterval(environment);
      if (interval === undefined || socket === undefined || watchdog !== undefined) return;
      // On the event loop, so that notifications stop if the loop hangs. Unreferenced, so that it does not keep the
      // process alive.
      watchdog = setInterval(() => send('WATCHDOG=1'), interval).unref();
    },
    stopping: () => send('STOPPING=1'),
    status: (text) => send(`STATUS=${text.replaceAll('\n', ' ')}`),
    close: () => clearInterval(watchdog),
  };
}
