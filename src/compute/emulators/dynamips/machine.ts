// The emulator's commands that configure a router before it is switched on, and right after that.
import { WIC_PORT_BASE } from './cards.ts';
import type { Hypervisor } from './hypervisor.ts';
import type { RouterKept } from './kept.ts';
import { chassisOf } from './platforms.ts';
import type { RouterSetup } from './settings.ts';

/** The emulator's default values. */
const IDLE_MAX = 500;
const IDLE_SLEEP = 30;

export interface Machine {
  setup: RouterSetup;
  kept: RouterKept;
  /** Absolute path of the image. */
  image: string;
  /** Relative to the node's directory; undefined if its memory is not shared. */
  ghost: string | undefined;
  /** Relative to the node's directory. */
  startupConfig: string;
  /** Undefined if there is none. */
  privateConfig: string | undefined;
}

/** @throws Failure `conflict` (`DynamipsError`) with the emulator's message */
export async function makeRouter(hypervisor: Hypervisor, machine: Machine): Promise<void> {
  const { setup, kept, image, ghost, startupConfig, privateConfig } = machine;
  const { platform, chassis, settings, slots, wics } = setup;
  const name = kept.vm_name;
  const vm = (verb: string, ...words: (string | number)[]) => hypervisor.run(`vm ${verb}`, [name, ...words]);
  const own = (verb: string, ...words: (string | number)[]) =>
    hypervisor.run(`${platform.name} ${verb}`, [name, ...words]);

  await vm('create', kept.dynamips_id, platform.name);
  if (kept.console_port !== null) await vm('set_con_tcp_port', kept.console_port);
  if (kept.aux_port !== null) await vm('set_aux_tcp_port', kept.aux_port);
  if (platform.hasChassis) await own('set_chassis', chassis);
  if (settings.npe !== undefined) await own('set_npe', settings.npe);
  if (settings.midplane !== undefined) await own('set_midplane', settings.midplane);
  await own('set_mac_addr', settings.mac_addr);
  await own('set_system_id', settings.system_id);
  await vm('set_ios', image);
  await vm('set_ram', settings.ram);
  await vm('set_nvram', settings.nvram);
  await vm('set_ram_mmap', Number(settings.mmap));
  await vm('set_sparse_mem', Number(settings.sparsemem));
  await vm('set_clock_divisor', settings.clock_divisor);
  await vm('set_exec_area', settings.exec_area);
  await vm('set_disk0', settings.disk0);
  await vm('set_disk1', settings.disk1);
  if (settings.iomem !== undefined) await own('set_iomem', settings.iomem);
  const boards = chassisOf(platform, chassis === '' ? undefined : chassis).slots;
  for (const [slot, card] of slots.entries()) {
    if (card !== null && !boards[slot]?.fixed) await vm('slot_add_binding', slot, 0, card);
  }
  for (const [place, wic] of wics.entries()) {
    if (wic !== null) await vm('slot_add_binding', 0, WIC_PORT_BASE * (place + 1), wic);
  }
  if (settings.idlepc !== '') await vm('set_idle_pc', settings.idlepc);
  if (ghost !== undefined) {
    await vm('set_ghost_status', 2);
    await vm('set_ghost_file', ghost);
  }
  await vm('set_config', startupConfig, ...(privateConfig === undefined ? [] : [privateConfig]));
}

/** Settings that the emulator accepts only for a router that is on. */
export async function adjustRunning(hypervisor: Hypervisor, { setup: { settings }, kept }: Machine): Promise<void> {
  const { vm_name: name } = kept;
  if (settings.idlemax !== IDLE_MAX) await hypervisor.run('vm set_idle_max', [name, 0, settings.idlemax]);
  if (settings.idlesleep !== IDLE_SLEEP) await hypervisor.run('vm set_idle_sleep_time', [name, 0, settings.idlesleep]);
  for (const [sensor, degrees] of (settings.sensors ?? []).entries()) {
    if (degrees !== 22) await hypervisor.run('c7200 set_temp_sensor', [name, sensor, degrees]);
  }
  for (const [supply, works] of (settings.power_supplies ?? []).entries()) {
    if (works !== 1) await hypervisor.run('c7200 set_power_supply', [name, supply, works]);
  }
}

/** Creates the memory shared by routers of one image: switches a router on and off, which leaves it in a file. */
export async function makeGhost(
  hypervisor: Hypervisor,
  {
    platform,
    chassis,
    image,
    ram,
    file,
  }: { platform: string; chassis: string; image: string; ram: number; file: string },
): Promise<void> {
  const name = 'Ghost';
  const vm = (verb: string, ...words: (string | number)[]) => hypervisor.run(`vm ${verb}`, [name, ...words]);
  await vm('create', 0, platform);
  try {
    if (chassis !== '') await hypervisor.run(`${platform} set_chassis`, [name, chassis]);
    await vm('set_ios', image);
    await vm('set_ghost_status', 1);
    await vm('set_ghost_file', file);
    await vm('set_ram', ram);
    await vm('start');
    await vm('stop');
  } finally {
    await vm('clean_delete');
  }
}

/** A router's name in the emulator, which allows no quotation marks, and prints the name on its console. */
export function machineName(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they end a command
  return name.replace(/["\u0000-\u001f]/g, "'") || 'router';
}
