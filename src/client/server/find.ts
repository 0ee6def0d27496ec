// Finds objects by name or id.
import { conflict, type Failure, notFound } from '../../failures.ts';
import { nearest } from '../../host/values/nearest-name.ts';
import { namesInWords } from '../terminal/counted.ts';

/** So many characters of an identifier are enough where no other begins with them. */
const SHORT_ID = 8;

export interface Named {
  id: string;
  name: string;
}

/**
 * Finds the object by id, name or start of the id.
 * @param kind word for messages
 * @throws Failure `not-found`; `conflict` with the ids if several match
 */
export function findNamed<T>(kind: string, all: readonly T[], named: (one: T) => Named, wanted: string): T {
  const byId = all.find((one) => named(one).id === wanted.toLowerCase());
  if (byId !== undefined) return byId;
  const byName = all.filter((one) => named(one).name === wanted);
  const found =
    byName.length > 0 || wanted.length < SHORT_ID || !/^[0-9a-f-]+$/i.test(wanted)
      ? byName
      : all.filter((one) => named(one).id.startsWith(wanted.toLowerCase()));
  if (found.length === 1) return found[0]!;
  if (found.length > 1) {
    const ids = found.map((one) => named(one).id).join(', ');
    throw conflict(`There are ${found.length} ${kind}s "${wanted}"; use an id: ${ids}`);
  }
  throw unknownName(
    kind,
    wanted,
    all.map((one) => named(one).name),
  );
}

/**
 * The message for an unknown name, with the nearest or all known names.
 * @param kind word for messages
 */
export function unknownName(kind: string, wanted: string, names: readonly string[]): Failure {
  const unknown = `There is no ${kind} "${wanted}"`;
  const plural = `${kind[0]!.toUpperCase()}${kind.slice(1)}s`;
  const list = LISTED.has(kind) ? ` (labwired ${kind} list)` : '';
  const meant = nearest(wanted, names);
  if (meant !== undefined) return notFound(`${unknown}; did you mean "${meant}"?`);
  if (names.length === 0) return notFound(`${unknown}; there are no ${kind}s.`);
  return notFound(`${unknown}. ${plural}: ${namesInWords(names)}${list}.`);
}

/** Kinds with a command that lists them. */
const LISTED = new Set([
  'lab',
  'node',
  'link',
  'template',
  'appliance',
  'compute',
  'snapshot',
  'image',
  'context',
  'token',
  'group',
]);
