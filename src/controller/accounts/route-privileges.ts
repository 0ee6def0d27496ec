// The privilege with which entries of the access list open a route, and the path at which they are looked up. A route that is not listed is
// opened by no entry.
import type { Privilege } from '../../api/privileges.ts';
import type { Route } from '../../http/app/route.ts';

const LAB = '/projects/{project_id}';
const NODE = `${LAB}/nodes/{node_id}`;
const LINK = `${LAB}/links/{link_id}`;
const POWER = ['start', 'stop', 'suspend', 'reload'];

/** Without the version of the API: what both dialects have is listed once. */
const ROUTES: Readonly<Partial<Record<Privilege, readonly string[]>>> = {
  'Project.Audit': [
    `GET ${LAB}`,
    `GET ${LAB}/stats`,
    `GET ${LAB}/thumbnail`,
    `GET ${LAB}/notes`,
    `GET ${LAB}/journal`,
    `GET ${LAB}/journal/stream`,
    `GET ${LAB}/sharing`,
    `GET ${LAB}/locked`,
    `GET ${LAB}/placement`,
    `GET ${LAB}/files/{path}`,
    `GET ${LAB}/notifications`,
    `GET ${LAB}/notifications/ws`,
    `GET ${LAB}/export`,
    // The copy asks for Project.Allocate, too.
    `POST ${LAB}/duplicate`,
  ],
  'Project.Allocate': [
    'POST /projects',
    `DELETE ${LAB}`,
    `POST ${LAB}/open`,
    `POST ${LAB}/close`,
    `POST ${LAB}/import`,
  ],
  'Project.Modify': [
    `PUT ${LAB}`,
    `PUT ${LAB}/notes`,
    `POST ${LAB}/files/{path}`,
    `POST ${LAB}/lock`,
    `POST ${LAB}/unlock`,
  ],
  'Snapshot.Audit': [`GET ${LAB}/snapshots`],
  'Snapshot.Allocate': [`POST ${LAB}/snapshots`, `DELETE ${LAB}/snapshots/{snapshot_id}`],
  'Snapshot.Restore': [`POST ${LAB}/snapshots/{snapshot_id}/restore`],
  'Drawing.Audit': [`GET ${LAB}/drawings`, `GET ${LAB}/drawings/{drawing_id}`],
  'Drawing.Allocate': [`POST ${LAB}/drawings`, `DELETE ${LAB}/drawings/{drawing_id}`],
  'Drawing.Modify': [`PUT ${LAB}/drawings/{drawing_id}`],
  'Link.Audit': [
    `GET ${LAB}/links`,
    `GET ${LINK}`,
    `GET ${LINK}/available_filters`,
    `GET ${LINK}/iface`,
    `GET ${LINK}/statistics`,
    `GET ${LINK}/schedule`,
    `GET ${LAB}/links/statistics/ws`,
    `GET ${NODE}/links`,
  ],
  'Link.Allocate': [`POST ${LAB}/links`, `DELETE ${LINK}`],
  'Link.Modify': [
    `PUT ${LINK}`,
    `POST ${LINK}/reset`,
    `POST ${LINK}/statistics/reset`,
    `POST ${LINK}/schedule`,
    `DELETE ${LINK}/schedule`,
    `POST ${NODE}/isolate`,
    `POST ${NODE}/unisolate`,
  ],
  'Link.Capture': [
    `POST ${LINK}/start_capture`,
    `POST ${LINK}/stop_capture`,
    `GET ${LINK}/pcap`,
    `GET ${LINK}/pcap/ws`,
    `POST ${LINK}/capture/start`,
    `POST ${LINK}/capture/stop`,
    `GET ${LINK}/capture/stream`,
    `GET ${LAB}/captures`,
    `GET ${LAB}/captures/{name}`,
    `GET ${LAB}/merged-captures`,
  ],
  'Node.Audit': [
    `GET ${LAB}/nodes`,
    `GET ${LAB}/deleted_nodes`,
    `GET ${NODE}`,
    `GET ${NODE}/mac_table`,
    `GET ${NODE}/disk_use`,
    `GET ${NODE}/files/{path}`,
  ],
  'Node.Allocate': [
    `POST ${LAB}/nodes`,
    `POST ${LAB}/placement`,
    `POST ${LAB}/templates/{template_id}`,
    `DELETE ${NODE}`,
    `POST ${LAB}/deleted_nodes/{node_id}/restore`,
    `POST ${NODE}/duplicate`,
    `POST ${NODE}/resize_disk`,
    ...['POST', 'PUT', 'DELETE'].map((method) => `${method} ${NODE}/disks/{disk_name}`),
    ...['POST', 'PUT', 'DELETE'].map((method) => `${method} ${NODE}/qemu/disk_image/{disk_name}`),
  ],
  'Node.Modify': [
    `PUT ${NODE}`,
    `DELETE ${NODE}/mac_table`,
    `POST ${NODE}/files/{path}`,
    // They drive the router, so that Node.Audit is not enough.
    `GET ${NODE}/dynamips/auto_idlepc`,
    `GET ${NODE}/dynamips/idlepc_proposals`,
  ],
  'Node.PowerMgmt': POWER.flatMap((action) => [`POST ${LAB}/nodes/${action}`, `POST ${NODE}/${action}`]),
  'Node.Console': [
    `POST ${LAB}/nodes/console/reset`,
    `POST ${NODE}/console/reset`,
    `GET ${NODE}/console/ws`,
    `GET ${NODE}/aux/ws`,
    `GET ${NODE}/console/vnc`,
  ],
  'Template.Allocate': [
    'POST /templates',
    'DELETE /templates/{template_id}',
    'POST /templates/{template_id}/duplicate',
  ],
  'Template.Modify': ['PUT /templates/{template_id}'],
  'Symbol.Audit': [
    'GET /symbols',
    'GET /default_symbols',
    'GET /symbols/default_symbols',
    'GET /symbols/{symbol_id}/dimensions',
  ],
  'Symbol.Allocate': ['POST /symbols/{symbol_id}/raw'],
  'Appliance.Audit': ['GET /appliances', 'GET /appliances/matches', 'GET /appliances/{appliance_id}'],
  'Appliance.Allocate': [
    'POST /appliances/{appliance_id}/template',
    'POST /appliances/{appliance_id}/install',
    'POST /appliances/{appliance_id}/version',
  ],
  'Compute.Allocate': ['POST /computes', 'DELETE /computes/{compute_id}'],
  'Compute.Modify': ['PUT /computes/{compute_id}'],
  'Image.Audit': [
    'GET /images',
    'GET /images/{path}',
    'GET /computes/{compute_id}/images',
    'GET /computes/{compute_id}/{emulator}/images',
  ],
  'Image.Allocate': [
    'POST /images/install',
    'DELETE /images/prune',
    'POST /images/qemu/{path}',
    'POST /images/upload/{path}',
    'DELETE /images/{path}',
    'DELETE /computes/{compute_id}/{emulator}/images/{filename}',
  ],
  'User.Audit': ['GET /access/users', 'GET /access/users/{user_id}', 'GET /accounts'],
  'User.Allocate': ['POST /access/users', 'DELETE /access/users/{user_id}'],
  'User.Modify': ['PUT /access/users/{user_id}'],
  'Group.Audit': [
    'GET /access/groups',
    'GET /access/groups/{user_group_id}',
    'GET /access/groups/{user_group_id}/members',
    'GET /access/users/{user_id}/groups',
    'GET /groups',
  ],
  'Group.Allocate': ['POST /access/groups', 'DELETE /access/groups/{user_group_id}'],
  'Group.Modify': [
    'PUT /access/groups/{user_group_id}',
    'PUT /access/groups/{user_group_id}/members/{user_id}',
    'DELETE /access/groups/{user_group_id}/members/{user_id}',
  ],
  'Role.Audit': ['GET /access/roles', 'GET /access/roles/{role_id}', 'GET /access/roles/{role_id}/privileges'],
  'Role.Allocate': ['POST /access/roles', 'DELETE /access/roles/{role_id}'],
  'Role.Modify': [
    'PUT /access/roles/{role_id}',
    'PUT /access/roles/{role_id}/privileges/{privilege_id}',
    'DELETE /access/roles/{role_id}/privileges/{privilege_id}',
  ],
  'ACE.Audit': ['GET /access/acl', 'GET /access/acl/{ace_id}', 'GET /access/acl/endpoints'],
  'ACE.Allocate': ['POST /access/acl', 'DELETE /access/acl/{ace_id}'],
  'ACE.Modify': ['PUT /access/acl/{ace_id}'],
  'Pool.Audit': ['GET /pools', 'GET /pools/{resource_pool_id}', 'GET /pools/{resource_pool_id}/resources'],
  'Pool.Allocate': ['POST /pools', 'DELETE /pools/{resource_pool_id}'],
  'Pool.Modify': [
    'PUT /pools/{resource_pool_id}',
    'PUT /pools/{resource_pool_id}/resources/{resource_id}',
    'DELETE /pools/{resource_pool_id}/resources/{resource_id}',
  ],
};

/** Routes of the v2 API at another path than in release 3.0.6, whose paths entries name. */
const ENTRY_PATHS: Readonly<Record<string, string>> = {
  'GET /default_symbols': '/symbols/default_symbols',
  'GET /accounts': '/access/users',
  'GET /groups': '/access/groups',
  'GET /computes/{}/images': '/images',
  'GET /computes/{}/{}/images': '/images',
  'DELETE /computes/{}/{}/images/{}': '/images/{filename}',
  'POST /projects/{}/links/{}/start_capture': `${LINK}/capture/start`,
  'POST /projects/{}/links/{}/stop_capture': `${LINK}/capture/stop`,
  'GET /projects/{}/links/{}/pcap': `${LINK}/capture/stream`,
  'GET /projects/{}/links/{}/pcap/ws': `${LINK}/capture/stream`,
};

/** A route's spelling without the version and the names of its parameters. */
const plain = (spelling: string): string => spelling.replaceAll(/\{[^{}]*\}/g, '{}');

const BY_ROUTE: ReadonlyMap<string, Privilege> = new Map(
  Object.entries(ROUTES).flatMap(([privilege, routes]) =>
    routes.map((one) => [plain(one), privilege as Privilege] as const),
  ),
);

const VERSION = /^\/v[23](?=\/)/;

function keyOf({ method, pattern }: Pick<Route, 'method' | 'pattern'>): string | undefined {
  return VERSION.test(pattern) ? plain(`${method} ${pattern.replace(VERSION, '')}`) : undefined;
}

/** The privilege with which entries open a route; undefined if they do not. */
export function privilegeOf(route: Pick<Route, 'method' | 'pattern'>): Privilege | undefined {
  const key = keyOf(route);
  return key === undefined ? undefined : BY_ROUTE.get(key);
}

/** The path at which entries for a request are looked up; undefined if its parameters cannot be part of one. */
export function entryPath(
  route: Pick<Route, 'method' | 'pattern'>,
  params: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const pattern = ENTRY_PATHS[keyOf(route) ?? ''] ?? route.pattern.replace(VERSION, '');
  let isSound = true;
  const path = pattern.replaceAll(/\{(\w+)(:[^{}]*)?\}/g, (_all, name: string, rest?: string) => {
    const value = params[name] ?? '';
    // A slash in a parameter of one segment would make it look like another place.
    if (value === '' || (rest === undefined && value.includes('/'))) isSound = false;
    // Names of computes may differ by capitals alone.
    return rest === undefined && name !== 'compute_id' ? value.toLowerCase() : value;
  });
  return isSound ? path : undefined;
}

/** The paths of all these routes, without the version. */
export const ROUTE_PATHS: readonly string[] = [
  ...Object.values(ROUTES).flatMap((routes) => routes.map((one) => one.slice(one.indexOf(' ') + 1))),
  ...[
    '/templates',
    '/computes',
    '/computes/{compute_id}',
    '/symbols/{symbol_id}/raw',
    '/access/users/me',
    '/access/privileges',
  ],
];
