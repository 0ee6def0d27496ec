// Machines of VirtualBox and VMware.
import * as v from 'valibot';
import { ConsolePort, Text } from '../vocabulary.ts';
import { type NodeKindFacts, OVERHEAD_MIB } from './kind.ts';
import { adapterPorts } from './ports.ts';
import {
  consoleTypes,
  createBody,
  customAdapterRows,
  identity,
  identityByUuid,
  ofTemplate,
  p,
  required,
  sentBack,
  templateMembers,
  updateBody,
  usage,
} from './property.ts';
import { between, flag, onClose, portNameRows } from './template-members.ts';

const switchRow = p(v.boolean(), { node: false, template: flag(false) });

/** Settings of both programs' machines. By default a template has one adapter and no console, a node the other way round. */
const machine = (most: number) => ({
  node_directory: sentBack(v.nullable(v.string())),
  console_type: consoleTypes(['telnet', 'none'], { node: 'telnet', template: 'none' }),
  console: p(v.nullable(ConsolePort), { effect: 'live' }),
  console_auto_start: ofTemplate(flag(false)),
  ...portNameRows,
  ...usage,
  headless: switchRow,
  on_close: p(v.picklist(['power_off', 'shutdown_signal', 'save_vm_state']), {
    node: 'power_off',
    template: onClose,
    effect: 'live',
  }),
  adapters: p(between(0, most), { node: 0, template: v.optional(between(0, most), 1) }),
  use_any_adapter: switchRow,
  ...customAdapterRows,
});

const VIRTUALBOX_ADAPTER = 'Intel PRO/1000 MT Desktop (82540EM)';

const virtualboxProperties = {
  ...identity,
  ...machine(36),
  vmname: required(Text, { template: Text }),
  linked_clone: switchRow,
  /** MiB; 0 leaves the machine's own. */
  ram: p(between(0, 65_535), { node: 0, template: v.optional(between(0, 65_535), 256) }),
  adapter_type: p(Text, {
    node: VIRTUALBOX_ADAPTER,
    template: v.optional(
      v.picklist([
        'PCnet-PCI II (Am79C970A)',
        'PCNet-FAST III (Am79C973)',
        'Intel PRO/1000 MT Desktop (82540EM)',
        'Intel PRO/1000 T Server (82543GC)',
        'Intel PRO/1000 MT Server (82545EM)',
        'Paravirtualized Network (virtio-net)',
      ]),
      VIRTUALBOX_ADAPTER,
    ),
  }),
};

export const VirtualboxCreate = createBody(virtualboxProperties);
export type VirtualboxCreate = v.InferOutput<typeof VirtualboxCreate>;
export const VirtualboxUpdate = updateBody(virtualboxProperties);
export type VirtualboxUpdate = v.InferOutput<typeof VirtualboxUpdate>;

const vmwareProperties = {
  ...identityByUuid,
  ...machine(10),
  vmx_path: required(Text, { template: Text }),
  linked_clone: required(v.boolean(), { template: flag(false) }),
  adapter_type: p(Text, {
    node: 'e1000',
    template: v.optional(
      v.picklist(['default', 'e1000', 'e1000e', 'flexible', 'vlance', 'vmxnet', 'vmxnet2', 'vmxnet3']),
      'e1000',
    ),
  }),
};

export const VmwareCreate = createBody(vmwareProperties);
export type VmwareCreate = v.InferOutput<typeof VmwareCreate>;
export const VmwareUpdate = updateBody(vmwareProperties);
export type VmwareUpdate = v.InferOutput<typeof VmwareUpdate>;

const machineKind = (
  facts: Pick<NodeKindFacts, 'type' | 'properties' | 'staysOnHost'>,
  symbol: string,
): NodeKindFacts => ({
  ...facts,
  effect: 'start',
  ports: (source) => adapterPorts(source),
  whileRunning: 'refused',
  needs: ({ number }) => ({ memory: number('ram', 256) + OVERHEAD_MIB, load: 1 }),
  template: {
    nameFormat: '{name}-{0}',
    symbol,
    category: 'guest',
    members: templateMembers(facts.properties),
  },
});

export const virtualbox = machineKind(
  { type: 'virtualbox', properties: virtualboxProperties, staysOnHost: { linkedClones: true } },
  'vbox_guest',
);

export const vmware = machineKind({ type: 'vmware', properties: vmwareProperties, staysOnHost: {} }, 'vmware_guest');
