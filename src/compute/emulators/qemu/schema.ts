// Bodies of QEMU's routes without a node.
import * as v from 'valibot';
import { PLATFORMS } from '../../../api/kinds/qemu.ts';
import { Integer, Text } from '../../../store/vocabulary.ts';

const OnOff = v.picklist(['on', 'off']);
const Mebibytes = v.pipe(Integer, v.minValue(1));

export const BinaryFilter = v.strictObject({ archs: v.optional(v.array(v.picklist(PLATFORMS))) });

/** qemu-img validates the options of each format. */
const DiskOptions = v.strictObject({
  preallocation: v.optional(v.picklist(['off', 'metadata', 'falloc', 'full'])),
  cluster_size: v.optional(Integer),
  refcount_bits: v.optional(Integer),
  lazy_refcounts: v.optional(OnOff),
  subformat: v.optional(
    v.picklist([
      'dynamic',
      'fixed',
      'streamOptimized',
      'twoGbMaxExtentSparse',
      'twoGbMaxExtentFlat',
      'monolithicSparse',
      'monolithicFlat',
    ]),
  ),
  static: v.optional(OnOff),
  zeroed_grain: v.optional(OnOff),
  adapter_type: v.optional(v.picklist(['ide', 'lsilogic', 'buslogic', 'legacyESX'])),
});

export const DiskImageCreate = v.strictObject({
  qemu_img: Text,
  path: Text,
  format: v.picklist(['qcow2', 'qcow', 'vpc', 'vdi', 'vmdk', 'raw']),
  size: Mebibytes,
  ...DiskOptions.entries,
});
export type DiskImageCreate = v.InferOutput<typeof DiskImageCreate>;

export const DiskImageUpdate = v.strictObject({
  qemu_img: Text,
  path: Text,
  extend: v.optional(Mebibytes),
});
export type DiskImageUpdate = v.InferOutput<typeof DiskImageUpdate>;

/** Platforms that an emulator's name may end with. */
export function isPlatform(word: string): boolean {
  return word !== '' && PLATFORMS.some((platform) => platform === word);
}
