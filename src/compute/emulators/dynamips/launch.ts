// Starts a node's router: starts the emulator, configures it, connects the cables, and switches the router on.
import { join } from 'node:path';
import type { Image } from '../../images/references.ts';
import type { ProgramOwner } from '../../nodes/lifecycle/node-program.ts';
import type { Configurations } from './configurations.ts';
import { ghostOf } from './ghosts.ts';
import { adjustRunning, makeRouter } from './machine.ts';
import { refusal } from './platforms.ts';
import type { RouterPorts } from './ports.ts';
import { RouterRuntime, type RuntimeOptions } from './runtime.ts';
import type { RouterSetup, Settings } from './settings.ts';
import { keepTables, takeTables } from './tables.ts';

export interface LaunchOptions extends RuntimeOptions {
  setup: RouterSetup;
  image: Image;
  sharesMemory: boolean;
  ports: RouterPorts;
  configurations: Configurations;
}

/** Whether a router shares memory with others. @throws Failure `conflict` (`DynamipsError`) if it should but cannot */
export function mustShareMemory(
  { npe, mmap }: Settings,
  { ghost_ios_support: wanted }: { ghost_ios_support: boolean },
) {
  const shares = wanted && npe !== 'npe-g2';
  if (!shares || mmap) return shares;
  throw refusal(
    'mmap: routers share memory (ghost_ios_support in section [Dynamips]), which needs mmap; switch it on.',
  );
}

/** @throws Failure `conflict` (`DynamipsError`) with the emulator's message; `resources` end what was started */
export async function launchRouter(
  node: ProgramOwner,
  options: LaunchOptions,
  resources: AsyncDisposableStack,
): Promise<RouterRuntime> {
  const { setup, image, sharesMemory, ports, configurations } = options;
  const { state } = node.services.config;
  await takeTables(state, node.directory, resources);
  const runtime = await RouterRuntime.start(node, options, resources);
  await keepTables(state, node.directory);
  await runtime.hypervisor.run('hypervisor working_dir', [node.directory]);
  const ghost = sharesMemory ? await ghostOf(runtime, join(node.directory, '..'), setup, image) : undefined;
  const texts = await configurations.read();
  const machine = {
    setup,
    kept: runtime.kept,
    image: image.path,
    ghost,
    startupConfig: configurations.startup,
    privateConfig: texts.private ? configurations.private : undefined,
  };
  await makeRouter(runtime.hypervisor, machine);
  resources.defer(() => ports.forget());
  await ports.join(runtime);
  await runtime.switchOn(resources);
  await adjustRunning(runtime.hypervisor, machine);
  return runtime;
}
