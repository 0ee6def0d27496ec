// The settings of an IOU router (facts of release 2.2.57).

import { type IouCreate, type IouUpdate, iouSettings } from '../../../api/kinds/iou.ts';
import { defaultsOf, type SettingsOf } from '../../../api/kinds/property.ts';
import type { ImageHelp } from './image.ts';

export type Settings = SettingsOf<typeof iouSettings>;

/** Default number of adapters of an image. */
export const USUAL_ADAPTERS = 2;

/**
 * The settings after a change.
 * @param help of the image; its figures apply where the defaults are used
 */
export function changedSettings(before: Settings, body: IouCreate | IouUpdate, help: ImageHelp): Settings {
  const isDefault = body.use_default_iou_values ?? before.use_default_iou_values;
  const figure = (own: number | undefined, told: number | null | undefined, former: number): number =>
    isDefault ? (own ?? former) : (told ?? former);
  return {
    usage: body.usage ?? before.usage,
    ethernet_adapters: body.ethernet_adapters ?? before.ethernet_adapters,
    serial_adapters: body.serial_adapters ?? before.serial_adapters,
    ram: figure(help.ram, body.ram, before.ram),
    nvram: figure(help.nvram, body.nvram, before.nvram),
    l1_keepalives: body.l1_keepalives ?? before.l1_keepalives,
    use_default_iou_values: isDefault,
  };
}

/** A new node's settings: the image's own figures come first. */
export function firstSettings(body: IouCreate, help: ImageHelp, nodeId: string): Settings {
  const usual = defaultsOf(iouSettings, nodeId);
  const own = { ...usual, ram: help.ram ?? usual.ram, nvram: help.nvram ?? usual.nvram };
  return changedSettings(own, body, help);
}
