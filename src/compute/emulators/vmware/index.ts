// Registers VMware: machines that vmrun drives, or linked clones of them.

import { VmwareCreate, VmwareUpdate } from '../../../api/kinds/virtual-machines.ts';
import { findProgram } from '../../../host/processes/program-path.ts';
import { route } from '../../../http/app/route.ts';
import { defineKind, refusalOf } from '../../nodes/kind.ts';
import { machineAbilities } from '../../nodes/machines/machine-node.ts';
import { machineProgramCheck } from '../../nodes/machines/machine-program.ts';
import { machines } from './machines.ts';
import { endLeft, MODULE, PORT_RULES, VmwareHost, VmwareNode } from './node.ts';
import { Vmrun } from './vmrun.ts';

export const vmware = defineKind({
  type: 'vmware',
  module: MODULE,
  ...PORT_RULES,
  create: VmwareCreate,
  update: VmwareUpdate,
  ...machineAbilities<VmwareNode>(),
  doctor: [
    machineProgramCheck(
      'VMware',
      async ({ VMware }) => {
        const { path, product } = await Vmrun.find(VMware.vmrun_path);
        return `machines are driven by ${path} for ${product}`;
      },
      async ({ VMware: { vmrun_path: path } }) => path !== '' || (await findProgram('vmrun')) !== undefined,
    ),
  ],
  unavailableReason: ({ VMware }) => refusalOf(() => Vmrun.find(VMware.vmrun_path)),

  host: (services) => new VmwareHost(services),
  make: VmwareNode.create,
  change: (node: VmwareNode, body) => node.change(body),
  endUnclaimed: endLeft,
  routes: (find) => [
    route(
      'POST /v2/compute/projects/{project_id}/vmware/nodes/{node_id}/interfaces/vmnet',
      { status: 201, summary: 'Give a node a network of VMware' },
      async ({ params }) => ({ vmnet: await find(params).allocateNetwork() }),
    ),
  ],
  hostRoutes: ({ config }) => [
    route('GET /v2/compute/vmware/vms', { summary: 'List machines of VMware', errors: [409] }, async () =>
      machines(await Vmrun.find(config.VMware.vmrun_path)),
    ),
  ],
});
