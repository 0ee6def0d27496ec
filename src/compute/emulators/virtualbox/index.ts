// Registers VirtualBox: machines that VBoxManage drives, or linked clones of them.

import { VirtualboxCreate, VirtualboxUpdate } from '../../../api/kinds/virtual-machines.ts';
import { route } from '../../../http/app/route.ts';
import { defineKind, refusalOf } from '../../nodes/kind.ts';
import { machineAbilities } from '../../nodes/machines/machine-node.ts';
import { machineProgramCheck } from '../../nodes/machines/machine-program.ts';
import { MachineUsers } from '../../nodes/machines/machine-users.ts';
import { VBoxManage } from './manage.ts';
import { endLeft, MODULE, PORT_RULES, VirtualboxNode } from './node.ts';

export const virtualbox = defineKind({
  type: 'virtualbox',
  module: MODULE,
  ...PORT_RULES,
  create: VirtualboxCreate,
  update: VirtualboxUpdate,
  ...machineAbilities<VirtualboxNode>(),
  doctor: [
    machineProgramCheck(
      'VirtualBox',
      // Not run: its first call creates files of its own.
      async ({ VirtualBox }) => `machines are driven by ${(await VBoxManage.find(VirtualBox.vboxmanage_path)).path}`,
      async ({ VirtualBox: { vboxmanage_path: path } }) => path !== '' || (await VBoxManage.isInstalled()),
    ),
  ],
  unavailableReason: ({ VirtualBox }) => refusalOf(() => VBoxManage.find(VirtualBox.vboxmanage_path)),

  host: () => new MachineUsers(),
  make: VirtualboxNode.create,
  change: (node: VirtualboxNode, body) => node.change(body),
  endUnclaimed: endLeft,
  hostRoutes: ({ config }) => [
    route('GET /v2/compute/virtualbox/vms', { summary: 'List machines of VirtualBox', errors: [409] }, async () =>
      (await VBoxManage.find(config.VirtualBox.vboxmanage_path)).machines(),
    ),
  ],
});
