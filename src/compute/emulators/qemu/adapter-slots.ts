// Places a machine's adapters on its PCI buses. Guests name interfaces by these slots, so they never change between
// releases.

/** Of every PCI bus. */
const SLOTS = 32;
/** The root bus of a PC has its host bridge, the ISA bridge with IDE and USB, and the display. */
const PC_SLOTS = 3;
/** On the release's root bus if there is a bridge: as {@link PC_SLOTS}, and the bridge. */
const FIRST_SLOT = 4;
/** Devices in the user's options that are on another bus. */
const ELSEWHERE =
  /(?:^|,)bus=|^(?:driver=)?(?:usb-(?!ehci|uhci)|isa-|ide-|scsi-|hda-|tpm-|pvpanic(?!-pci)|virt(?:serialport|console)|ib700|pc-dimm|loader)/;

export interface RootBus {
  /** Drives with their own controller. */
  drives: number;
  /** Channels to agents in the guest, of SPICE and of QEMU: each has its own device. */
  channels: number;
  usb: boolean;
  /** The user's words. */
  options: readonly string[];
}

/** An adapter on the root bus gets the next free slot. */
export type Slot = { bridge?: undefined } | { bridge: number; slot: number };

/** A slot for each adapter, in their order. */
export function adapterSlots(count: number, root: RootBus): { bridges: number; slots: Slot[] } {
  const others = root.options.filter(
    (word, at) => /^--?device$/.test(root.options[at - 1] ?? '') && !ELSEWHERE.test(word),
  );
  // q35 has its USB controllers in their own slot.
  const isQ35 = root.options.some((word) => /(?:^|,|=)(?:pc-)?q35\b/.test(word));
  const more = others.length + root.channels + Number(isQ35 && root.usb);
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
