// Bodies of QEMU's routes without a node.
import * as v from 'valibot';
import { LongerDisk, NewDisk, PLATFORMS } from '../../../api/kinds/qemu.ts';
import { Text } from '../../../api/vocabulary.ts';

export const BinaryFilter = v.strictObject({ archs: v.optional(v.array(v.picklist(PLATFORMS))) });

export const DiskImageCreate = v.strictObject({ qemu_img: Text, path: Text, ...NewDisk.entries });
export type DiskImageCreate = v.InferOutput<typeof DiskImageCreate>;

export const DiskImageUpdate = v.strictObject({ qemu_img: Text, path: Text, ...LongerDisk.entries });
export type DiskImageUpdate = v.InferOutput<typeof DiskImageUpdate>;

/** Platforms that an emulator's name may end with. */
export function isPlatform(word: string): boolean {
  return word !== '' && PLATFORMS.some((platform) => platform === word);
}
