// Chooses what runs a PC: the vpcs program, or the built-in PC. The node depends on neither.
import type { Sections } from '../../../config/schema.ts';
import type { Console } from '../../../consoles/console.ts';
import type { ProgramOwner } from '../../nodes/lifecycle/node-program.ts';
import type { NodeRuntime } from '../../nodes/lifecycle/node-runtime.ts';
import type { NodePort } from '../../nodes/ports/port.ts';
import { type VpcsProgram, VpcsPrograms } from './program.ts';

/** A running PC. */
export interface PcRuntime extends NodeRuntime {
  readonly console: Console;
  /** Its addresses of now, if they are known. */
  addresses?(): Promise<string[]>;
}

/** The node as its engine sees it. */
export interface PcNode extends ProgramOwner {
  readonly ethernet: NodePort;
  /** The node's directory, below the project's. */
  readonly relativeDirectory: string;
  /** Distinguishes the PCs of a project; their MAC addresses are derived from it. */
  readonly number: number;
}

/** The cached programs of this host. */
const programs = new VpcsPrograms();

const DEFAULT_PATH = 'vpcs';

/**
 * The program that runs PCs, or undefined for the built-in PC.
 * @param isShared whether people with accounts share the host: the program's console gives a shell, and it accepts
 * frames from any sender
 * @throws Failure `conflict` (`VPCSError`) if the requested program is not available
 */
export async function chooseEngine(
  { engine, vpcs_path: path }: Sections['VPCS'],
  isShared: boolean,
  known: VpcsPrograms = programs,
): Promise<VpcsProgram | undefined> {
  if (engine === 'built-in' || (engine === 'automatic' && isShared && path === DEFAULT_PATH)) return undefined;
  // A configured path requests that program, so errors are reported.
  if (engine === 'vpcs' || path !== DEFAULT_PATH || (await known.isInstalled(path))) return known.find(path);
  return undefined;
}
