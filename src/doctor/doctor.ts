// Reports what this host has and what is missing. Changes nothing.
import { KINDS } from '../compute/emulators/registry.ts';
import type { HostCheck } from '../compute/nodes/kind.ts';
import type { ProcessEnvironment } from '../config/environment.ts';
import { type ConfigSources, type LoadedConfig, loadConfig } from '../config/load.ts';
import { Failure } from '../failures.ts';
import { missing } from '../host/values/check-result.ts';
import { version } from '../host/version.ts';
import { account, accounts, auditTrail, localSocket } from './access.ts';
import { type Check, type Finding, runChecks } from './check.ts';
import { cluster } from './cluster.ts';
import { configuration } from './configuration.ts';
import { directories, logFile, stateDirectory } from './directories.ts';
import { kernel, socketBuffers, terminalDevice, user } from './host.ts';
import { fileWatches, memory, openFiles, processes, terminals } from './limits.ts';
import { certificate, consoleAccess, listenAddress } from './listening.ts';
import { addons, libpcap } from './native-code.ts';
import {
  allowedInterfaces,
  capabilities,
  forwarding,
  forwardPolicy,
  kernelLinks,
  nat,
  tun,
  vxlan,
} from './networks.ts';
import { cablePorts, consolePorts } from './port-ranges.ts';
import { fixReport, jsonReport, textReport, worst } from './report.ts';
import { runningDaemon } from './running-daemon.ts';
import { database, supervisor } from './surviving-state.ts';

/** The requirements of a kind of node. */
function checkOf({ subject, see, examine }: HostCheck): Check {
  return { subject, see, examine: ({ loaded: { config }, daemon }) => examine(config, daemon) };
}

/** All checks, in the order of the report. */
export const CHECKS: readonly Check[] = [
  ...[kernel, user, configuration],
  ...[listenAddress, account, accounts, localSocket, certificate, consoleAccess, consolePorts, cablePorts],
  ...[stateDirectory, database, auditTrail, supervisor, ...directories, logFile],
  ...KINDS.flatMap(({ doctor = [] }) => doctor).map(checkOf),
  ...[libpcap, addons],
  ...[terminalDevice, terminals, openFiles, processes, fileWatches, memory, socketBuffers],
  ...[tun, capabilities, kernelLinks, vxlan, allowedInterfaces, nat, forwarding, forwardPolicy, cluster],
];

/** Options from the command line. */
export interface DoctorOptions extends Pick<ConfigSources, 'flags' | 'file' | 'state'> {
  /** A report for scripts. */
  json: boolean;
  /** Show the commands that fix the problems. */
  fix: boolean;
}

export interface Diagnosis {
  report: string;
  /** 0: everything needed is there; 1: something is missing. */
  exitCode: 0 | 1;
}

/** Examines the host for a server with this configuration; takes less than a second. */
export async function runDoctor(
  { flags, file, state, json, fix }: DoctorOptions,
  { sources, addonDirectory }: Pick<ProcessEnvironment, 'sources' | 'addonDirectory'>,
): Promise<Diagnosis> {
  const findings = await examine({ ...sources, flags, file, state }, addonDirectory);
  const report = (json ? jsonReport : fix ? fixReport : textReport)(version(), findings);
  return { report, exitCode: worst(findings) === 'missing' ? 1 : 0 };
}

async function examine(sources: ConfigSources, addonDirectory: string | undefined): Promise<Finding[]> {
  let loaded: LoadedConfig;
  try {
    loaded = loadConfig(sources);
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown;
    const { subject, see } = configuration;
    // Without it nothing else can be judged: neither ports nor directories are known.
    return [{ subject, see, ...missing(thrown.message, 'correct it, then run labwired doctor again') }];
  }
  const daemon = await runningDaemon(loaded.config.state);
  return await runChecks(CHECKS, { loaded, daemon, addonDirectory });
}
