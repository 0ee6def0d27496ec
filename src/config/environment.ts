// The process environment, read once. No other module reads process.env.
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type ConfigSources, usualSockets } from './load.ts';

export interface ProcessEnvironment {
  sources: Pick<ConfigSources, 'environment' | 'workingDirectory' | 'home'>;
  /** systemd's notification socket and watchdog; see host/processes/systemd-notify.ts. */
  notify: { socket: string | undefined; watchdogMicroseconds: string | undefined; watchdogPid: string | undefined };
  /** Standard error is journald. */
  journal: boolean;
  /** Directory for unpacked addons, if set. */
  addonDirectory: string | undefined;
  /** The user who called sudo. */
  sudoUser: string | undefined;
  /** The server and lab for the commands of src/client. */
  client: {
    server: string | undefined;
    lab: string | undefined;
    context: string | undefined;
    /** The file that keeps contexts. */
    contexts: string;
    /** Environment variables of the shell, for files that refer to them. */
    variables: Readonly<Record<string, string | undefined>>;
    /** Where a server of this host may listen, the likeliest first. */
    sockets: readonly string[];
  };
}

export function processEnvironment(): ProcessEnvironment {
  const environment = process.env;
  const sources = { environment, workingDirectory: workingDirectory(), home: environment['HOME'] || homedir() };
  return {
    sources,
    notify: {
      socket: environment['NOTIFY_SOCKET'],
      watchdogMicroseconds: environment['WATCHDOG_USEC'],
      watchdogPid: environment['WATCHDOG_PID'],
    },
    journal: environment['JOURNAL_STREAM'] !== undefined,
    addonDirectory: environment['LABWIRE_ADDON_DIR'] || environment['RUNTIME_DIRECTORY']?.split(':')[0],
    sudoUser: environment['SUDO_USER'],
    client: {
      server: environment['LABWIRE_SERVER'],
      lab: environment['LABWIRE_LAB'],
      context: environment['LABWIRE_CONTEXT'],
      contexts: join(environment['XDG_CONFIG_HOME'] || join(sources.home, '.config'), 'labwire/contexts.json'),
      variables: environment,
      sockets: usualSockets(sources),
    },
  };
}

/** Commands also work in a deleted directory. */
function workingDirectory(): string {
  try {
    return process.cwd();
  } catch {
    return '/';
  }
}
