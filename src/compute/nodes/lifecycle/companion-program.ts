// An additional program of a node, such as its TPM: starts before the node or with it, and ends with it.
import { Terminal } from '../../../consoles/terminal.ts';
import { childEnvironment, processToken } from '../../../host/processes/child-processes.ts';
import type { Services } from '../../services.ts';
import type { NodeProject } from '../owner.ts';

export interface CompanionOptions {
  /** Kind of node, and the program's role. */
  kind: string;
  version: number;
  role: string;
  node: { id: string; name: string; project: NodeProject; directory: string };
  services: Services;
  program: string;
  arguments: readonly string[];
  /** File in the node's directory that its output is appended to. */
  log: string;
}

/** Starts it; `resources` end it. @throws Failure `conflict` if it cannot be started */
export async function startCompanion(options: CompanionOptions, resources: AsyncDisposableStack): Promise<Terminal> {
  const { kind, version, role, node, program } = options;
  const record = {
    kind,
    version,
    role,
    project_id: node.project.id,
    node_id: node.id,
    node_name: node.name,
    command_line: [program, ...options.arguments].join(' '),
    udp_ports: [],
    data: null,
  };
  const terminal = terminalOf(options, record);
  await terminal.start();
  resources.defer(() => terminal.stop());
  return terminal;
}

/** Reattaches one that outlived the server, if any. */
export function reattachCompanion(
  options: Omit<CompanionOptions, 'program' | 'arguments'>,
  resources: AsyncDisposableStack,
): Terminal | undefined {
  const { node, role, services } = options;
  const found = services.survivingPrograms.claim(node.project.id, node.id, role);
  if (!found) return undefined;
  const terminal = terminalOf({ ...options, program: '', arguments: [] }, {});
  terminal.reattach(found.handle);
  resources.defer(() => terminal.stop());
  return terminal;
}

function terminalOf({ node, services, program, arguments: words, log }: CompanionOptions, record: object): Terminal {
  const { supervisor, instance } = services;
  const environment = childEnvironment(processToken(instance, node.id));
  const { directory } = node;
  return new Terminal({
    supervisor,
    program,
    arguments: words,
    directory,
    environment,
    record,
    log: `${directory}/${log}`,
  });
}
