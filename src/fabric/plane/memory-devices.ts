// The kinds of devices in memory. A new one needs a class here and its types in model.ts.

import type { DeviceKind, DeviceSettings, Output, Settings } from '../model.ts';
import { AtmSwitch } from './atm-switch.ts';
import { EthernetSwitch } from './ethernet-switch.ts';
import type { FramePlane } from './frame-plane.ts';
import { FrameRelaySwitch } from './frame-relay-switch.ts';
import { Hub } from './hub.ts';
import { IolSocket } from './iol-socket.ts';
import type { DeviceSurroundings, MemoryDevice } from './memory-device.ts';
import { NatNetwork } from './nat-network.ts';
import { PcDevice } from './pc-device.ts';

type Classes = { readonly [Kind in DeviceKind]: new (surroundings: DeviceSurroundings<Kind>) => MemoryDevice<Kind> };

const CLASSES: Classes = {
  'atm-switch': AtmSwitch,
  'ethernet-switch': EthernetSwitch,
  'frame-relay-switch': FrameRelaySwitch,
  hub: Hub,
  'iol-socket': IolSocket,
  nat: NatNetwork,
  pc: PcDevice,
};

/** Creates and configures a device; if it throws, there is no device. */
export function makeDevice<Kind extends DeviceKind>(
  { kind, settings }: DeviceSettings<Kind>,
  plane: FramePlane,
  tell: (message: Output<DeviceKind>) => void,
): MemoryDevice {
  const device = new CLASSES[kind]({ plane, tell });
  device.configure(settings as Settings<Kind>);
  return device as unknown as MemoryDevice;
}
