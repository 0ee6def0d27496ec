// The MAC address table over HTTP. The release has no such routes, so its clients do not use them.
import * as v from 'valibot';
import { MacTableRow } from '../../../api/routes/compute-nodes.ts';
import { answers } from '../../../api/routes/definition.ts';
import { type Route, route } from '../../../http/app/route.ts';
import type { FindNode } from '../../nodes/kind.ts';
import type { SwitchNode } from './node.ts';

const TABLE = '/v2/compute/projects/{project_id}/ethernet_switch/nodes/{node_id}/mac_table';

export function switchRoutes(find: FindNode<SwitchNode>): Route[] {
  return [
    route(
      `GET ${TABLE}`,
      { answer: answers(v.array(MacTableRow)), summary: 'List the MAC addresses that an Ethernet switch has learned' },
      ({ params }) => find(params).macTable(),
    ),
    route(
      `DELETE ${TABLE}`,
      { status: 204, summary: 'Have an Ethernet switch forget its MAC addresses' },
      ({ params }) => find(params).clearMacTable(),
    ),
  ];
}
