// The programs of a node: its own, and additional ones such as its TPM, which start before it or with it, and end with it.
import { Terminal, type TerminalOptions } from '../../../consoles/terminal.ts';
import { childEnvironment, processToken } from '../../../host/processes/child-processes.ts';
import type { Services } from '../../services.ts';
import type { NodeProject } from '../owner.ts';
import type { KeptData, ProgramRecord } from './surviving-programs.ts';

/** A node as its running program sees it: with its name at the start. */
export interface ProgramOwner {
  readonly id: string;
  readonly name: string;
  readonly project: NodeProject;
  readonly services: Services;
  readonly directory: string;
}

/** The record that is kept with a program. */
export function programRecord(
  { id, name, project }: ProgramOwner,
  { version }: Pick<KeptData, 'version'>,
  about: Pick<ProgramRecord, 'kind' | 'role' | 'command_line' | 'udp_ports' | 'data'>,
): ProgramRecord {
  return { ...about, version, project_id: project.id, node_id: id, node_name: name };
}

/**
 * A terminal for a program that runs in the node's directory.
 * @param command the program and its arguments; empty for one that outlived the server
 */
export function programTerminal(
  { id, services, directory }: ProgramOwner,
  [program = '', ...words]: readonly string[],
  options: Partial<TerminalOptions>,
): Terminal {
  const { supervisor, instance } = services;
  const environment = childEnvironment({ ...options.environment, ...processToken(instance, id) });
  return new Terminal({ ...options, supervisor, program, arguments: words, directory, environment });
}

export interface Companion {
  /** Kind of node, and the program's role. */
  kind: string;
  version: number;
  role: string;
  node: ProgramOwner;
  /** File in the node's directory that its output is appended to. */
  log: string;
}

/** Starts an additional program; `resources` end it. @throws Failure `conflict` if it cannot be started */
export async function startCompanion(
  companion: Companion,
  command: readonly string[],
  resources: AsyncDisposableStack,
): Promise<Terminal> {
  const { kind, role, node } = companion;
  const about = { kind, role, command_line: command.join(' '), udp_ports: [], data: null };
  const terminal = terminalOf(companion, command, programRecord(node, companion, about));
  await terminal.start();
  resources.defer(() => terminal.stop());
  return terminal;
}

/** Reattaches one that outlived the server, if any; `resources` end it. */
export function reattachCompanion(companion: Companion, resources?: AsyncDisposableStack): Terminal | undefined {
  const { node, role } = companion;
  const found = node.services.survivingPrograms.claim(node, undefined, role);
  if (!found) return undefined;
  const terminal = terminalOf(companion, [], {});
  terminal.reattach(found.handle);
  resources?.defer(() => terminal.stop());
  return terminal;
}

function terminalOf({ node, log }: Companion, command: readonly string[], record: object): Terminal {
  return programTerminal(node, command, { record, log: `${node.directory}/${log}` });
}
