// Parses the command line and runs the command.
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { hostInUrl } from '../api/host-in-url.ts';
import { type ProcessEnvironment, processEnvironment } from '../config/environment.ts';
import { InvalidFlag, type LoadedConfig, loadConfig } from '../config/load.ts';
import { invalid, systemCode } from '../failures.ts';
import { explainInodes } from '../host/files/inodes.ts';
import { configureLog, log, logToFile } from '../host/log.ts';
import { useAddonDirectory } from '../host/processes/addons.ts';
import { loadScript } from '../host/processes/compiled-script.ts';
import { withholdRights } from '../host/processes/inherited-rights.ts';
import type { Notifier } from '../host/processes/systemd-notify.ts';
import { version } from '../host/version.ts';
import type { Daemon } from '../start/daemon.ts';
import { endAfter } from '../start/end-after-failure.ts';
import { loadCluster } from '../start/load-cluster.ts';
import { type Command, HELP, helpOf, parseCommand } from './definitions.ts';
import { WRONG_USAGE, WrongUsage } from './wrong-usage.ts';

/** Exit code that makes systemd restart the server at once (EX_TEMPFAIL of sysexits.h). */
const START_AGAIN = 75;

type Configured = Extract<Command, { directory: string }>;

/** @throws Failure `invalid`, which names the setting */
function openToAppend(path: string, setting: string, mode: number): number {
  try {
    return openSync(path, 'a', mode);
  } catch (error) {
    const reason = systemCode(error) ?? error;
    throw invalid(`${setting} ${path} cannot be written: ${reason}. Name a file that the server's user can write.`);
  }
}

function configure(command: Configured, { sources, journal }: ProcessEnvironment): LoadedConfig {
  const { flags, file, state } = command;
  const loaded = loadConfig({ ...sources, flags, file, state });
  const { debug, quiet, log: logFile } = loaded.config.Server;
  configureLog({ debug, quiet, journal });
  // Other commands speak to the operator; as root they would create a file that the server cannot write.
  if (logFile && command.name === 'serve') logToFile(openToAppend(logFile, 'log', 0o640));
  return loaded;
}

async function serve(command: Configured, environment: ProcessEnvironment): Promise<void> {
  const { config, files, warnings } = configure(command, environment);
  for (const warning of warnings) log.warn(warning);
  for (const flag of command.ignored) log.warn(`--${flag} is left to systemd and journald; it is ignored`);
  if (environment.addonDirectory) useAddonDirectory(environment.addonDirectory);
  // Before the start, as it must not fail once the server serves; the pid follows, as the start may fail beside a running server.
  if (command.pidFile) closeSync(openToAppend(command.pidFile, '--pid', 0o666));
  withholdRights();
  const explained = async (error: unknown): Promise<never> => {
    throw await explainInodes(error, config.state);
  };
  const starting = Promise.withResolvers<{ daemon: Daemon; notifier: Notifier }>();
  let stopping = false;
  const stop = async (reason: string, { keepNodes = false, exitCode = 0 } = {}): Promise<void> => {
    if (stopping) return;
    stopping = true;
    log.info('stopping', { reason, nodes: keepNodes ? 'go on' : 'end' });
    // Remaining work must not keep the daemon alive: leftover processes are ended at the next start.
    setTimeout(() => process.exit(1), 4_500).unref();
    const { daemon, notifier } = await starting.promise;
    notifier.stopping();
    await (keepNodes ? daemon.leave() : daemon.stop());
    notifier.close();
    process.exit(exitCode);
  };
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGHUP'] as const) process.on(signal, () => void stop(signal));
  process.on('SIGTERM', () => void stop('SIGTERM', { keepNodes: config.Server.nodes_on_stop === 'keep' }));
  process.on('SIGUSR2', () => void stop('SIGUSR2', { keepNodes: true, exitCode: START_AGAIN }));
  const shutdown = () => void setTimeout(() => void stop('a client asked for it'), 50);
  const { startServer } = await import('../start/start.ts');
  const daemon = await startServer(config, shutdown).catch(explained);
  const { createNotifier } = await import('../host/processes/systemd-notify.ts');
  const notifier = createNotifier(environment.notify);
  starting.resolve({ daemon, notifier });
  if (stopping) return;
  process.on('unhandledRejection', (error) =>
    log.error('unhandled rejection', { error: String(error instanceof Error ? error.stack : error) }),
  );
  if (command.pidFile) writeFileSync(command.pidFile, `${process.pid}\n`);
  const { address, port } = daemon.address;
  const url = `${config.Server.protocol}://${hostInUrl(address)}:${port}`;
  notifier.ready();
  notifier.status(`Listening on ${url}`);
  log.info('ready', {
    url,
    version: version(),
    api: `${config.Server.version.v2.number}, ${config.Server.version.v3.number}`,
    state: config.state,
    files: files.join(',') || 'none',
  });
}

async function loadClient(): Promise<typeof import('../client/main.ts')> {
  const script = await loadScript('client', new URL('../client/main.ts', import.meta.url));
  return script as typeof import('../client/main.ts');
}

async function run(words: readonly string[]): Promise<void> {
  const command = parseCommand(words);
  switch (command.name) {
    case 'help': {
      if (command.topic === undefined) return void process.stdout.write(helpOf(command.of));
      const { runHelp } = await import('../help/help.ts');
      const { environment } = processEnvironment().sources;
      return runHelp(command.topic, { before: HELP, environment });
    }
    case 'version':
      process.stdout.write(`labwired ${version()}\n`);
      return;
    case 'demo':
      return (await loadClient()).demo(command.url);
    case 'client':
      return (await loadClient()).main(command.words, processEnvironment().client);
    case 'doctor': {
      const { runDoctor } = await import('../doctor/doctor.ts');
      const { report, exitCode } = await runDoctor(command, processEnvironment());
      // Only after the report is written; a check that timed out may still hold something open.
      process.stdout.write(report, () => process.exit(exitCode));
      return;
    }
    case 'password': {
      const { setPassword } = await import('./password.ts');
      const environment = processEnvironment();
      const { config } = configure(command, environment);
      process.stdout.write(await setPassword(config, command, environment.sudoUser));
      return;
    }
    case 'user': {
      const { userCommand } = await import('./user.ts');
      const environment = processEnvironment();
      const { config } = configure(command, environment);
      process.stdout.write(await userCommand(config, command, environment.sudoUser));
      return;
    }
    case 'audit': {
      const { auditCommand } = await import('./audit.ts');
      process.stdout.write(await auditCommand(configure(command, processEnvironment()).config, command.json));
      return;
    }
    case 'cluster': {
      const { becomeOwner } = await import('./state-owner.ts');
      const { makeDirectory } = await import('../host/files/directories.ts');
      const { state } = configure(command, processEnvironment()).config;
      await makeDirectory(state, state);
      await becomeOwner(state);
      const { clusterCommand } = await loadCluster();
      const [verb = '', argument] = command.words;
      const { clusterName: name, ...options } = command;
      process.stdout.write(await clusterCommand({ ...options, verb, argument, state, name }));
      return;
    }
    case 'recover': {
      const { recover } = await import('./recover.ts');
      process.stdout.write(await recover(configure(command, processEnvironment()).config));
      return;
    }
    case 'backup': {
      const { backUp } = await import('../store/backup.ts');
      const { config } = configure(command, processEnvironment());
      const {
        state,
        Server: { projects_path: projects },
      } = config;
      const { files, bytes, leftOut } = await backUp({ state, projects, target: command.directory });
      // Quoted: a terminal would interpret control characters of a name.
      for (const path of leftOut)
        process.stderr.write(`labwired: left out, as the path is too long: ${JSON.stringify(path)}\n`);
      process.stdout.write(
        `${command.directory}: the database and ${files} files, ${(bytes / 2 ** 20).toFixed(1)} MiB\n`,
      );
      return;
    }
    case 'serve':
      return serve(command, processEnvironment());
  }
}

export function main(words: readonly string[]): void {
  // The reader of the output has seen enough, as `head` has.
  process.stdout.on('error', (error) => {
    if (systemCode(error) !== 'EPIPE') endAfter(error);
  });
  run(words).catch((error: unknown) => {
    if (error instanceof WrongUsage || error instanceof InvalidFlag) process.exitCode = WRONG_USAGE;
    endAfter(error);
  });
}
