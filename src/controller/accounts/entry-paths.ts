// The paths that entries of the access list may have: those of routes, with identifiers in the place of their parameters.
import { Failure } from '../../failures.ts';
import { ROUTE_PATHS } from './route-privileges.ts';

/** Paths of release 3.0.6 that no privilege opens; entries for them reach what is below. */
const OTHERS = ['/', '/version', '/statistics', '/notifications', '/iou_license', '/reload', '/shutdown', '/gns3vm'];

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';

/** `symbol_id` is a name. */
const isIdentifier = (name: string): boolean => name.endsWith('_id') && name !== 'symbol_id';

const POSSIBLE: readonly RegExp[] = [...new Set([...OTHERS, ...ROUTE_PATHS])].map((pattern) => {
  const fitting = pattern.replaceAll(/\{(\w+)\}/g, (_all, name: string) => (isIdentifier(name) ? UUID : '\\w+'));
  return new RegExp(`^${fitting}$`, 'i');
});

/** Identifiers are compared in small letters. @throws Failure `conflict` for a path that no route has */
export function checkedEntryPath(path: string): string {
  if (POSSIBLE.some((pattern) => pattern.test(path)))
    return path.replaceAll(new RegExp(UUID, 'gi'), (id) => id.toLowerCase());
  throw new Failure(
    'conflict',
    `path: there is no address ${JSON.stringify(path)}; use one of the API without /v3, such as /projects or /projects/PROJECT_ID.`,
  );
}
