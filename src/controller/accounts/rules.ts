// The access right that each route requires. A route that is not listed is for admins.
import type { Route } from '../../http/app/route.ts';

/**
 * - `read`: every account
 * - `use`: users, who create labs of their own
 * - `watch`: accounts that may view the lab in the path
 * - `change`: accounts that may change it
 * - `type`: accounts that may view it; input is dropped unless they may change it
 * - `pass`: users, for the few emulator queries that reveal nothing about labs; otherwise admins
 * - `figures`: admins, and any token of an admin
 * - `admin`: admins
 */
export type Need = 'read' | 'use' | 'watch' | 'change' | 'type' | 'pass' | 'figures' | 'admin';

const LAB = '/v2/projects/{project_id}';
const NODE = `${LAB}/nodes/{node_id}`;
const LINK = `${LAB}/links/{link_id}`;

const ROUTES: Readonly<Record<Need, readonly string[]>> = {
  read: [
    'GET /',
    'GET /labs/{project_id}',
    'GET /labs/{project_id}/nodes/{node_id}/console',
    'GET /labs/{project_id}/captures',
    'GET /labs/{project_id}/links/{link_id}/capture',
    'GET /templates',
    'GET /images',
    'GET /hosts',
    'GET /people',
    'GET /account',
    'GET /logout',
    'GET /help',
    'GET /help/docs',
    'GET /help/docs/{topic}',
    'GET /v1/version',
    'GET /static/web-ui/{path:.+}',
    'GET /assets/licences.txt',
    'GET /assets/{name}',
    'GET /v2/openapi.json',
    'POST /v2/tickets',
    'GET /v2/version',
    'POST /v2/version',
    'GET /v2/statistics',
    'GET /v2/notifications',
    'GET /v2/notifications/ws',
    'GET /v2/operations',
    'DELETE /v2/operations/{operation_id}',
    'GET /v2/account',
    'PUT /v2/account/password',
    'GET /v2/account/tokens',
    'POST /v2/account/tokens',
    'DELETE /v2/account/tokens/{token_id}',
    'GET /v2/accounts',
    'GET /v2/groups',
    'GET /v2/appliances',
    'GET /v2/appliances/matches',
    'GET /v2/computes',
    'GET /v2/computes/{compute_id}',
    'GET /v2/computes/endpoint/{compute_id}/{emulator}/{action:.+}',
    'GET /v2/computes/{compute_id}/images',
    'GET /v2/computes/{compute_id}/{emulator}/images',
    'GET /v2/impairments/presets',
    'GET /v2/projects',
    'GET /v2/project-figures',
    'GET /v2/project-changes',
    'GET /v2/project-sharing',
    'GET /v2/gns3vm',
    'GET /v2/gns3vm/engines',
    'GET /v2/symbols',
    'GET /v2/default_symbols',
    'GET /v2/symbols/{symbol_id:.+}/raw',
    'GET /v2/symbols/{symbol_id:.+}/dimensions',
    'GET /v2/templates',
    'GET /v2/templates/{template_id}',
    'POST /v3/access/users/authenticate',
    'POST /v3/access/users/login',
    'GET /v3/access/users/me',
    'PUT /v3/access/users/me',
    'GET /v3/access/privileges',
  ],
  use: ['POST /v2/projects', 'POST /v2/placement', `POST ${LAB}/import`],
  pass: ['GET /v2/computes/{compute_id}/{emulator}/{action:.+}'],
  watch: [
    `GET ${LAB}`,
    `GET ${LAB}/stats`,
    `GET ${LAB}/thumbnail`,
    `GET ${LAB}/notes`,
    `GET ${LAB}/locked`,
    `GET ${LAB}/placement`,
    `GET ${LAB}/journal`,
    `GET ${LAB}/journal/stream`,
    `GET ${LAB}/sharing`,
    `GET ${LAB}/files/{path:.+}`,
    `GET ${LAB}/notifications`,
    `GET ${LAB}/notifications/ws`,
    `GET ${LAB}/export`,
    `POST ${LAB}/duplicate`,
    `GET ${LAB}/snapshots`,
    `GET ${LAB}/drawings`,
    `GET ${LAB}/drawings/{drawing_id}`,
    `GET ${LAB}/links`,
    `GET ${LINK}`,
    `GET ${LINK}/available_filters`,
    `GET ${LINK}/iface`,
    `GET ${LINK}/statistics`,
    `GET ${LINK}/schedule`,
    `GET ${LINK}/pcap`,
    `GET ${LINK}/pcap/ws`,
    `GET ${LAB}/links/statistics/ws`,
    `GET ${LAB}/captures`,
    `GET ${LAB}/captures/{name}`,
    `GET ${LAB}/merged-captures`,
    `GET ${LAB}/nodes`,
    `GET ${LAB}/deleted_nodes`,
    `GET ${NODE}`,
    `GET ${NODE}/links`,
    `GET ${NODE}/mac_table`,
    `GET ${NODE}/disk_use`,
    `GET ${NODE}/files/{path:.+}`,
  ],
  type: [`GET ${NODE}/console/ws`, `GET ${NODE}/aux/ws`, `GET ${NODE}/console/vnc`],
  change: [
    `PUT ${LAB}`,
    `DELETE ${LAB}`,
    `PUT ${LAB}/sharing`,
    `POST ${LAB}/open`,
    `POST ${LAB}/close`,
    `POST ${LAB}/lock`,
    `POST ${LAB}/unlock`,
    `POST ${LAB}/files/{path:.+}`,
    `PUT ${LAB}/notes`,
    `POST ${LAB}/snapshots`,
    `DELETE ${LAB}/snapshots/{snapshot_id}`,
    `POST ${LAB}/snapshots/{snapshot_id}/restore`,
    `POST ${LAB}/drawings`,
    `PUT ${LAB}/drawings/{drawing_id}`,
    `DELETE ${LAB}/drawings/{drawing_id}`,
    `POST ${LAB}/links`,
    `PUT ${LINK}`,
    `DELETE ${LINK}`,
    `POST ${LINK}/reset`,
    `POST ${LINK}/start_capture`,
    `POST ${LINK}/stop_capture`,
    `POST ${LINK}/statistics/reset`,
    `POST ${LINK}/schedule`,
    `DELETE ${LINK}/schedule`,
    `POST ${LAB}/templates/{template_id}`,
    `POST ${LAB}/nodes`,
    `POST ${LAB}/placement`,
    ...['start', 'stop', 'suspend', 'reload', 'console/reset'].flatMap((action) => [
      `POST ${LAB}/nodes/${action}`,
      `POST ${NODE}/${action}`,
    ]),
    `PUT ${NODE}`,
    `DELETE ${NODE}`,
    `POST ${LAB}/deleted_nodes/{node_id}/restore`,
    `POST ${NODE}/isolate`,
    `POST ${NODE}/unisolate`,
    `POST ${NODE}/duplicate`,
    `DELETE ${NODE}/mac_table`,
    `POST ${NODE}/files/{path:.+}`,
    `POST ${NODE}/resize_disk`,
    ...['POST', 'PUT', 'DELETE'].map((method) => `${method} ${NODE}/disks/{disk_name}`),
    `GET ${NODE}/dynamips/auto_idlepc`,
    `GET ${NODE}/dynamips/idlepc_proposals`,
  ],
  // The metrics contain the ids of all labs and nodes.
  figures: ['GET /metrics'],
  admin: [
    'POST /v2/shutdown',
    'POST /v2/debug',
    'POST /v2/reload',
    'POST /v2/projects/load',
    'POST /v2/accounts',
    'PUT /v2/accounts/{name}',
    'DELETE /v2/accounts/{name}',
    'POST /v2/groups',
    'PUT /v2/groups/{name}',
    'DELETE /v2/groups/{name}',
    'GET /v2/audit',
    'GET /v2/iou_license',
    'PUT /v2/iou_license',
    'PUT /v2/gns3vm',
    'GET /v2/gns3vm/engines/{engine}/vms',
    'POST /v2/appliances/{appliance_id}/template',
    'POST /v2/computes',
    'PUT /v2/computes/{compute_id}',
    'DELETE /v2/computes/{compute_id}',
    'POST /v2/computes/{compute_id}/drain',
    'POST /v2/computes/{compute_id}/undrain',
    'GET /v2/computes/{compute_id}/ports',
    'POST /v2/computes/{compute_id}/auto_idlepc',
    'GET /v2/computes/{compute_id}/{emulator}/images/{filename:.+}',
    'DELETE /v2/computes/{compute_id}/{emulator}/images/{filename:.+}',
    'DELETE /v2/computes/{compute_id}/{emulator}/uploads/{upload_id}',
    'POST /v2/computes/{compute_id}/{emulator}/{action:.+}',
    'PUT /v2/computes/{compute_id}/{emulator}/{action:.+}',
    'POST /v2/symbols/{symbol_id:.+}/raw',
    'POST /v2/templates',
    'PUT /v2/templates/{template_id}',
    'DELETE /v2/templates/{template_id}',
    'POST /v2/templates/{template_id}/duplicate',
    // Entries of the access list open these to others.
    'GET /v3/access/users',
    'POST /v3/access/users',
    'GET /v3/access/users/{user_id}',
    'PUT /v3/access/users/{user_id}',
    'DELETE /v3/access/users/{user_id}',
    'GET /v3/access/users/{user_id}/groups',
    ...['/v3/access/groups/{user_group_id}', '/v3/access/roles/{role_id}', '/v3/access/acl/{ace_id}'].flatMap((one) => {
      const list = one.slice(0, one.lastIndexOf('/'));
      return [`GET ${list}`, `POST ${list}`, `GET ${one}`, `PUT ${one}`, `DELETE ${one}`];
    }),
    'GET /v3/access/groups/{user_group_id}/members',
    'PUT /v3/access/groups/{user_group_id}/members/{user_id}',
    'DELETE /v3/access/groups/{user_group_id}/members/{user_id}',
    'GET /v3/access/roles/{role_id}/privileges',
    'PUT /v3/access/roles/{role_id}/privileges/{privilege_id}',
    'DELETE /v3/access/roles/{role_id}/privileges/{privilege_id}',
    'GET /v3/access/acl/endpoints',
    'GET /v3/pools',
    'POST /v3/pools',
    'GET /v3/pools/{resource_pool_id}',
    'PUT /v3/pools/{resource_pool_id}',
    'DELETE /v3/pools/{resource_pool_id}',
    'GET /v3/pools/{resource_pool_id}/resources',
    'PUT /v3/pools/{resource_pool_id}/resources/{resource_id}',
    'DELETE /v3/pools/{resource_pool_id}/resources/{resource_id}',
  ],
};

/** All routes of a compute, which knows no owners of labs. */
const COMPUTE = '/v2/compute/';

/** By method and pattern. */
export const RULES: ReadonlyMap<string, Need> = new Map(
  Object.entries(ROUTES).flatMap(([need, routes]) => routes.map((one) => [one, need as Need] as const)),
);

const LAB3 = '/v3/projects/{project_id}';

/** Routes of /v3 that have no twin in /v2, or one with another name. */
const OF_V3: Readonly<Partial<Record<Need, readonly string[]>>> = {
  read: [
    'GET /v3/symbols/default_symbols',
    'GET /v3/images',
    'GET /v3/images/{path}',
    'GET /v3/appliances/{appliance_id}',
    'GET /v3/computes/{compute_id}/docker/images',
    'GET /v3/computes/{compute_id}/virtualbox/vms',
    'GET /v3/computes/{compute_id}/vmware/vms',
  ],
  watch: [`GET ${LAB3}/links/{link_id}/capture/stream`],
  change: [
    ...['start', 'stop'].map((action) => `POST ${LAB3}/links/{link_id}/capture/${action}`),
    ...['POST', 'PUT', 'DELETE'].map((method) => `${method} ${LAB3}/nodes/{node_id}/qemu/disk_image/{name}`),
  ],
  admin: [
    'POST /v3/images/install',
    'DELETE /v3/images/prune',
    'POST /v3/images/qemu/{path}',
    'POST /v3/images/upload/{path}',
    'DELETE /v3/images/{path}',
    'POST /v3/appliances/{appliance_id}/install',
    'POST /v3/appliances/{appliance_id}/version',
    'POST /v3/computes/{compute_id}/connect',
    'POST /v3/computes/{compute_id}/dynamips/auto_idlepc',
  ],
};

/** A route's spelling without the names of its parameters. */
const plain = (spelling: string): string => spelling.replaceAll(/\{[^{}]*\}/g, '{}');

/** The needs of routes of /v3, by their plain spelling: their own, or that of the twin in /v2. */
const V3_RULES: ReadonlyMap<string, Need> = new Map([
  ...[...RULES].map(([route, need]) => [plain(route.replace(' /v2/', ' /v3/')), need] as const),
  ...Object.entries(OF_V3).flatMap(([need, routes]) => routes.map((one) => [plain(one), need as Need] as const)),
]);

/** The right that a route requires; undefined for an unlisted route, which is for admins. */
export function needOf({ method, pattern }: Pick<Route, 'method' | 'pattern'>): Need | undefined {
  if (pattern.startsWith(COMPUTE)) return 'admin';
  const spelling = `${method} ${pattern}`;
  return RULES.get(spelling) ?? (pattern.startsWith('/v3/') ? V3_RULES.get(plain(spelling)) : undefined);
}
