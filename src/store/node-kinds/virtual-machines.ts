// Machines of VirtualBox and VMware, which their programs keep.
import * as v from 'valibot';
import { Text } from '../vocabulary.ts';
import type { NodeKindFacts } from './kind.ts';
import { adapterPorts } from './ports.ts';
import {
  between,
  customAdapters,
  flag,
  hiddenConsoleMembers,
  onClose,
  portNameMembers,
  text,
} from './template-members.ts';

export const virtualbox: NodeKindFacts = {
  type: 'virtualbox',
  ports: (source) => adapterPorts(source),
  staysOnHost: { linkedClones: true },
  whileRunning: 'refused',
  template: {
    nameFormat: '{name}-{0}',
    symbol: 'vbox_guest',
    category: 'guest',
    members: {
      ...hiddenConsoleMembers,
      ...portNameMembers,
      vmname: Text,
      usage: text(),
      ram: v.optional(between(0, 65535), 256),
      linked_clone: flag(false),
      adapters: v.optional(between(0, 36), 1),
      use_any_adapter: flag(false),
      adapter_type: v.optional(
        v.picklist([
          'PCnet-PCI II (Am79C970A)',
          'PCNet-FAST III (Am79C973)',
          'Intel PRO/1000 MT Desktop (82540EM)',
          'Intel PRO/1000 T Server (82543GC)',
          'Intel PRO/1000 MT Server (82545EM)',
          'Paravirtualized Network (virtio-net)',
        ]),
        'Intel PRO/1000 MT Desktop (82540EM)',
      ),
      headless: flag(false),
      on_close: onClose,
      custom_adapters: customAdapters,
    },
  },
};

export const vmware: NodeKindFacts = {
  type: 'vmware',
  ports: (source) => adapterPorts(source),
  staysOnHost: {},
  whileRunning: 'refused',
  template: {
    nameFormat: '{name}-{0}',
    symbol: 'vmware_guest',
    category: 'guest',
    members: {
      ...hiddenConsoleMembers,
      ...portNameMembers,
      vmx_path: Text,
      usage: text(),
      linked_clone: flag(false),
      adapters: v.optional(between(0, 10), 1),
      adapter_type: v.optional(
        v.picklist(['default', 'e1000', 'e1000e', 'flexible', 'vlance', 'vmxnet', 'vmxnet2', 'vmxnet3']),
        'e1000',
      ),
      use_any_adapter: flag(false),
      headless: flag(false),
      on_close: onClose,
      custom_adapters: customAdapters,
    },
  },
};
