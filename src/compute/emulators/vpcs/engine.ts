// What runs a PC: the vpcs program, or the PC that is built in. The node knows neither of them.
import type { Sections } from '../../../config/schema.ts';
import type { Console } from '../../../consoles/console.ts';
import type { NodeRuntime } from '../../nodes/lifecycle/node-runtime.ts';
import type { NodeProject } from '../../nodes/owner.ts';
import type { NodePort } from '../../nodes/ports/port.ts';
import type { Services } from '../../services.ts';
import { type VpcsProgram, VpcsPrograms } from './program.ts';

/** A PC that runs. */
export interface PcRuntime extends NodeRuntime {
  readonly console: Console;
}

/** The node as its engine knows it. */
export interface RuntimeNode {
  readonly id: string;
  readonly name: string;
  readonly project: NodeProject;
  readonly services: Services;
  readonly ethernet: NodePort;
  /** The node's directory; `relativeDirectory` is below the project's. */
  readonly directory: string;
  readonly relativeDirectory: string;
  /** Tells PCs of a project apart; their MAC addresses are made of it. */
  readonly number: number;
}

/** What is known of the programs on this host. */
const programs = new VpcsPrograms();

const DEFAULT_PATH = 'vpcs';

/**
 * The program that runs PCs, or undefined for the one that is built in.
 * @param isShared whether people with accounts share the host: the console of the program is a shell, and it takes frames from anybody
 * @throws Failure `conflict` (`VPCSError`) when the program that was asked for cannot be had
 */
export async function chooseEngine(
  { engine, vpcs_path: path }: Sections['VPCS'],
  isShared: boolean,
  known: VpcsPrograms = programs,
): Promise<VpcsProgram | undefined> {
  if (engine === 'built-in' || (engine === 'automatic' && isShared && path === DEFAULT_PATH)) return undefined;
  // Who names another path wants that program, and to be told what hinders it.
  if (engine === 'vpcs' || path !== DEFAULT_PATH || (await known.isInstalled(path))) return known.find(path);
  return undefined;
}
