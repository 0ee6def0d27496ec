// What a node needs of its host, from its kind and its properties.
import { imagesIn } from '../projects/image-users.ts';
import type { Needs } from './problem.ts';

type Properties = Readonly<Record<string, unknown>>;

/** MiB of a machine's program beside the guest's memory. */
const OVERHEAD_MIB = 64;

/** Memory (MiB) and usual load (processors) of a node by kind; kinds that are left out need next to nothing. */
const USUAL: Readonly<Record<string, (number: (name: string, usual: number) => number) => [number, number]>> = {
  qemu: (number) => [number('ram', 256) + OVERHEAD_MIB, number('cpus', 1) / 2],
  virtualbox: (number) => [number('ram', 256) + OVERHEAD_MIB, 1],
  vmware: (number) => [number('ram', 256) + OVERHEAD_MIB, 1],
  dynamips: (number) => [number('ram', 128), 0.5],
  iou: (number) => [number('ram', 256), 0.25],
  docker: (number) => [number('memory', 0) || 128, Math.max(number('cpus', 0), 0.25)],
  vpcs: () => [2, 0.02],
  traceng: () => [2, 0.02],
};

/** Machines of this host's own kind of processor, which KVM runs. */
const OWN_PROCESSOR = /x86_64|i386|qemu-kvm/;
const WITHOUT_KVM = /-no-kvm|accel[= ]tcg/;

export function needsOf(type: string, properties: Properties): Needs {
  const number = (name: string, usual: number): number => {
    const value = properties[name];
    return typeof value === 'number' && Number.isFinite(value) ? value : usual;
  };
  const [memory, load] = USUAL[type]?.(number) ?? [1, 0.01];
  const platform = String(properties['platform'] || properties['qemu_path'] || 'x86_64');
  const isMachine = type === 'qemu';
  return {
    memory,
    load,
    processors: isMachine ? number('cpus', 1) : 1,
    kvm: isMachine && OWN_PROCESSOR.test(platform) && !WITHOUT_KVM.test(String(properties['options'] ?? '')),
    // Hosts download the images of containers themselves.
    images: type === 'docker' ? [] : [...imagesIn(type, properties)],
  };
}
