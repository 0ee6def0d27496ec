// Paths of entries of the access list: the one at which entries for a request are looked up, and those that an entry may have, which are those
// of routes with identifiers in the place of their parameters.
import { NODE_KINDS } from '../../api/kinds/kinds.ts';
import { ROUTES } from '../../api/routes/routes.ts';
import { conflict } from '../../failures.ts';
import type { Route } from '../../http/app/route.ts';

const VERSION = /^\/v[23](?=\/)/;

/** The path at which entries for a request are looked up; undefined if its parameters cannot be part of one. */
export function entryPath(
  { pattern, definition }: Pick<Route, 'pattern' | 'definition'>,
  params: Readonly<Record<string, string | undefined>>,
): string | undefined {
  let isSound = true;
  const path = (definition.entryPath ?? pattern.replace(VERSION, '')).replaceAll(
    /\{(\w+)(:[^{}]*)?\}/g,
    (_all, name: string, rest?: string) => {
      const value = params[name] ?? '';
      // A slash in a parameter of one segment would make it look like another place.
      if (value === '' || (rest === undefined && value.includes('/'))) isSound = false;
      // Names of computes may differ by capitals alone.
      return rest === undefined && name !== 'compute_id' ? value.toLowerCase() : value;
    },
  );
  return isSound ? path : undefined;
}

/** Paths of release 3.0.6 that no privilege opens, or at another path than in release 2.2.57; entries for them reach what is below. */
const OTHERS = [
  ...['/', '/version', '/statistics', '/notifications', '/iou_license', '/reload', '/shutdown', '/gns3vm'],
  ...['/symbols/{symbol_id}/raw', '/access/users/me', '/access/privileges'],
  '/projects/{project_id}/nodes/{node_id}/qemu/disk_image/{disk_name}',
];

const UUID = '[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}';

/** `symbol_id` is a name. */
const isIdentifier = (name: string): boolean => name.endsWith('_id') && name !== 'symbol_id';

const POSSIBLE: readonly RegExp[] = possiblePaths();

function possiblePaths(): RegExp[] {
  const ofRoutes = Object.entries(ROUTES).flatMap(([spelling, { privilege, entryPath: other }]) =>
    privilege === undefined ? [] : [spelling.slice(spelling.indexOf(' ') + 1), ...(other ? [other] : [])],
  );
  const ofKinds = NODE_KINDS.flatMap(({ passes = [] }) =>
    passes.map(({ path }) => `/projects/{project_id}/nodes/{node_id}/${path}`),
  );
  return [...new Set([...OTHERS, ...ofRoutes, ...ofKinds])].map((pattern) => {
    const fitting = pattern
      .replace(VERSION, '')
      .replaceAll(/\{(\w+)(?::[^{}]*)?\}/g, (_all, name: string) => (isIdentifier(name) ? UUID : '\\w+'));
    return new RegExp(`^${fitting}$`);
  });
}

/** Identifiers are compared in small letters. @throws Failure `conflict` for a path that no route has */
export function checkedEntryPath(path: string): string {
  if (POSSIBLE.some((pattern) => pattern.test(path)))
    return path.replaceAll(new RegExp(UUID, 'g'), (id) => id.toLowerCase());
  throw conflict(
    `path: there is no address ${JSON.stringify(path)}; use one of the API without /v3, such as /projects or /projects/PROJECT_ID.`,
  );
}
