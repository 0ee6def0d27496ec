// What a router of IOU is configured with (facts of release 2.2.57).
import type { ImageHelp } from './image.ts';
import type { IouCreate, IouUpdate } from './schema.ts';

export interface Settings {
  usage: string;
  ethernet_adapters: number;
  serial_adapters: number;
  /** MiB */
  ram: number;
  /** KiB */
  nvram: number;
  l1_keepalives: boolean;
  use_default_iou_values: boolean;
}

/** Before the image and the body have said anything. */
export const DEFAULTS: Settings = {
  usage: '',
  ethernet_adapters: 2,
  serial_adapters: 2,
  ram: 1024,
  nvram: 256,
  l1_keepalives: false,
  use_default_iou_values: false,
};

/** Adapters that an image has unless it is told otherwise. */
export const USUAL_ADAPTERS = 2;

/**
 * The settings with what a body gives.
 * @param help of the image; its figures count where the defaults are to be used
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

/** A new node's: what the image says of itself comes first. */
export function firstSettings(body: IouCreate, help: ImageHelp): Settings {
  const own = { ...DEFAULTS, ram: help.ram ?? DEFAULTS.ram, nvram: help.nvram ?? DEFAULTS.nvram };
  return changedSettings(own, body, help);
}
