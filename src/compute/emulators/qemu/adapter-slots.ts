// Where the adapters of a machine are on its PCI buses. Guests name interfaces by these places: they stay the same from release to release.

/** Of every PCI bus. */
const SLOTS = 32;
/** A PC has its host bridge, the ISA bridge with IDE and USB, and the display on the root bus. */
const PC_SLOTS = 3;
/** On the root bus of the release when there is a bridge: as {@link PC_SLOTS}, and the bridge. */
const FIRST_SLOT = 4;
/** Devices of the user's options that are on another bus. */
const ELSEWHERE =
  /(?:^|,)bus=|^(?:driver=)?(?:usb-(?!ehci|uhci)|isa-|ide-|scsi-|hda-|tpm-|pvpanic(?!-pci)|virt(?:serialport|console)|ib700|pc-dimm|loader)/;

export interface RootBus {
  /** Drives that are on a controller of their own. */
  drives: number;
  /** SPICE's agent has a device of its own. */
  agent: boolean;
  /** USB is switched on. */
  usb: boolean;
  /** Words of the user. */
  options: readonly string[];
}

/** An adapter on the root bus has the next free slot. */
export type Slot = { bridge?: undefined } | { bridge: number; slot: number };

/** A slot for each adapter, in their order. */
export function adapterSlots(count: number, root: RootBus): { bridges: number; slots: Slot[] } {
  const others = root.options.filter(
    (word, at) => /^--?device$/.test(root.options[at - 1] ?? '') && !ELSEWHERE.test(word),
  );
  // q35 has its USB controllers in a slot of their own.
  const isQ35 = root.options.some((word) => /(?:^|,|=)(?:pc-)?q35\b/.test(word));
  const more = others.length + Number(root.agent) + Number(isQ35 && root.usb);
  const mostOfRelease = SLOTS - FIRST_SLOT - root.drives;
  const free = SLOTS - PC_SLOTS - root.drives - more;
  // Each bridge takes a slot itself.
  const onRoot = (bridges: number): number => Math.max(0, Math.min(mostOfRelease, free - 1) - (bridges - 1));
  let bridges = 0;
  if (count > Math.min(mostOfRelease, free)) for (bridges = 1; count > onRoot(bridges) + bridges * SLOTS; ) bridges++;
  const first = bridges === 0 ? count : onRoot(bridges);
  const slots = Array.from({ length: count }, (_none, number): Slot => {
    const behind = number - first;
    return behind < 0 ? {} : { bridge: Math.floor(behind / SLOTS) + 1, slot: behind % SLOTS };
  });
  return { bridges, slots };
}
