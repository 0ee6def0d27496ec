// Starts a node's machine: checks, creates and reserves everything that QEMU needs.
import { realpath } from 'node:fs/promises';

import { DRIVES } from '../../../api/kinds/qemu.ts';
import { HeldNames } from '../../../host/files/held-names.ts';
import { warnOfMemory } from '../../nodes/lifecycle/memory-warning.ts';
import { consoleHost } from '../../ports/ports.ts';
import { isAccelerated } from './acceleration.ts';
import type { Emulator } from './binary.ts';
import { machineWords } from './command.ts';
import { packConfigDisk, prepareConfigDisk } from './config-disk.ts';
import { mustAllowDirectIo } from './direct-io.ts';
import { restoreDisks } from './disk-checkpoint.ts';
import { mustHaveSpace, warnOfSpace } from './disk-space.ts';
import { DiskTool } from './disk-tool.ts';
import { type Disk, type DiskOptions, forgetState, judge, prepareDisks, SAVED_STATE, savedIn } from './disks.ts';
import { prepareFirmware } from './firmware.ts';
import { reserveAdapters } from './frames.ts';
import { optionWords } from './options.ts';
import type { MachineOwner } from './qemu-host.ts';
import { refusal } from './refusal.ts';
import { RUNNING_STATE } from './running-state.ts';
import { QemuRuntime } from './runtime.ts';
import { type HiddenSettings, IMAGE_KIND, type Images, type Settings } from './settings.ts';
import { throttleProgram } from './throttle.ts';
import { startTpm, TPM_SOCKET } from './tpm.ts';

/** Everything a start depends on. */
export interface Machine {
  emulator: Emulator;
  settings: Settings;
  hidden: HiddenSettings;
  images: Images;
  console: { type: string; port: number | null };
  /** It continues from its `RUNNING_STATE`. */
  goesOn?: boolean;
}

/** @throws Failure `conflict` (`QemuError`) with the reason; nothing runs then */
export async function launchMachine(
  node: MachineOwner,
  machine: Machine,
  resources: AsyncDisposableStack,
): Promise<QemuRuntime> {
  const { emulator, settings, hidden, images, console } = machine;
  const { services, project } = node;
  const { Qemu } = services.config;
  mustFitTogether(machine);
  const accelerated = await isAccelerated(emulator.path, settings.options, Qemu);
  const placeholders = {
    name: node.name,
    nodeId: node.id,
    projectId: project.id,
    projectPath: project.path,
    console: console.port,
    guestCid: node.host.reserveCid(console.port, resources),
  };
  const options = optionWords(settings.options, placeholders, Qemu.allow_unsafe_options);
  warnOfMemory(node, services, settings.ram);
  await mustHaveSpace(node);
  const tool = await DiskTool.beside(emulator.path);
  // Until QEMU has opened them.
  using held = new HeldNames();
  if (images.cdrom_image.path !== '') await judge('cdrom_image', images.cdrom_image.path, held);
  await throttleProgram(settings.cpu_throttling);
  const own = settings.create_config_disk ? DRIVES.filter((drive) => drive !== 'hdd') : DRIVES;
  const ofDisks = diskOptions(node, machine, tool, held);
  await restoreDisks(images, ofDisks);
  const disks = await prepareDisks(images, own, ofDisks);
  const configDisk = settings.create_config_disk ? await configDiskOf(node, machine, resources) : [];
  await mustAllowDirectIo([...disks, ...configDisk], images, settings);
  await warnOfSpace(disks, settings, warnAbout(node));
  const uefi = settings.uefi ? await prepareFirmware(node.directory, services.images.folder(IMAGE_KIND)) : undefined;
  const savedState = await takeSavedState(machine, disks, tool);
  const others = [...configDisk.map(({ path }) => path), ...(uefi ? [uefi.code, uefi.variables] : []), emulator.path];
  for (const path of others) await held.hold(await realpath(path));
  const { adapters, frames, tapNetwork } = await reserveAdapters(node, settings.adapters, resources);
  if (settings.tpm) await startTpm(node, resources);
  const words = machineWords({
    emulator: emulator.path,
    platform: emulator.platform,
    name: node.name,
    nodeId: node.id,
    settings,
    hidden,
    images,
    disks: [...disks, ...configDisk],
    accelerated,
    adapters,
    options,
    vhost: frames.vhost,
    console: { ...console, host: consoleHost(services.config) },
    ...(uefi ? { uefi } : {}),
    ...(settings.tpm ? { tpm: TPM_SOCKET } : {}),
    ...(savedState === undefined ? {} : { savedState }),
  });
  const start = {
    emulator: emulator.path,
    words,
    priority: settings.process_priority,
    throttling: settings.cpu_throttling,
    disks: disks.map(({ path }) => path),
    opens: Qemu.allow_unsafe_options ? undefined : held.paths,
    ...(uefi && savedState !== undefined ? { load: savedState } : {}),
    kept: { adapters, serial: console.type === 'telnet' },
    udpPorts: adapters.flatMap((each) => ('tap' in each ? [] : [each.program_port, each.cable_port])),
    taps: adapters.flatMap((each) => ('tap' in each ? [each.tap] : [])),
    ...(tapNetwork === undefined ? {} : { tapNetwork }),
  };
  return await QemuRuntime.start(node, start, resources);
}

/** The fourth drive, if it is the configuration disk, which is packed after the machine's end. */
async function configDiskOf(node: MachineOwner, { images }: Machine, resources: AsyncDisposableStack): Promise<Disk[]> {
  const options = { directory: node.directory, warn: warnAbout(node) };
  const path = await prepareConfigDisk(node.services.images.folder(IMAGE_KIND), images.hdd_disk_image.path, options);
  if (path === undefined) return [];
  packAfterwards(node, resources);
  return [{ drive: 'hdd', index: DRIVES.indexOf('hdd'), path, format: 'raw' }];
}

/** Registered first, so that it runs when the machine has ended. */
export function packAfterwards(node: MachineOwner, resources: AsyncDisposableStack): void {
  resources.defer(() => packConfigDisk({ directory: node.directory, warn: warnAbout(node) }));
}

function warnAbout({ services, project, name }: MachineOwner): (message: string) => void {
  return (message) => services.events.emit('log.warning', { message: `${name}: ${message}` }, project.id);
}

export function diskOptions(
  node: MachineOwner,
  { hidden }: Pick<Machine, 'hidden'>,
  tool: DiskTool,
  held: HeldNames,
): DiskOptions {
  const { directory, host } = node;
  return { tool, directory, linked: hidden.linked_clone, known: host.disks, held, warn: warnAbout(node) };
}

function mustFitTogether({ settings, images, emulator }: Machine): void {
  const refuse = (message: string): never => {
    throw refusal(message);
  };
  // The API accepts any number, as the release does, and 0 is QEMU's default.
  if (settings.ram < 0) refuse(`ram: ${settings.ram} MiB of memory is impossible. Set at least 1, for example 512.`);
  if (settings.uefi && images.bios_image.path !== '') refuse('uefi: a machine has a bios_image or UEFI, not both.');
  if (images.cdrom_image.path !== '' && images.hdc_disk_image.path !== '') {
    refuse('cdrom_image: the CD drive is where hdc is; take one of them away.');
  }
  if (settings.legacy_networking) {
    refuse(`legacy_networking: ${emulator.path} is too new for it (QEMU 2.9 took it away); switch it off.`);
  }
}

/** The state that the machine continues from, if any. Otherwise saved states are deleted. */
async function takeSavedState(
  { settings, goesOn = false }: Machine,
  disks: readonly Disk[],
  tool: DiskTool,
): Promise<string | undefined> {
  const writable = disks.filter(({ path }) => path !== '');
  if (goesOn) {
    if ((await savedIn(writable, tool, RUNNING_STATE)).length > 0) return RUNNING_STATE;
    throw refusal('No state of the running machine is kept in its disks.');
  }
  await forgetState(writable, tool, RUNNING_STATE);
  if (settings.on_close === 'save_vm_state') {
    return (await savedIn(writable, tool, SAVED_STATE)).length > 0 ? SAVED_STATE : undefined;
  }
  await forgetState(writable, tool, SAVED_STATE);
  return undefined;
}
