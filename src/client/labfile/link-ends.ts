// Parses `PC1:e0 -- SW1:2` into the two ends of a link.
import { invalid } from '../../failures.ts';
import { suggestion } from '../../host/values/nearest-name.ts';
import { nodeKey, type WantedEnd } from './model.ts';

/** The end, if the text starts with a node's name. The longest name wins, as names may contain colons. */
function endOf(text: string, names: readonly string[]): WantedEnd | undefined {
  let found: WantedEnd | undefined;
  for (const name of names) {
    if (found && found.node.length >= name.length) continue;
    if (nodeKey(text) === nodeKey(name)) found = { node: name, port: undefined };
    else if (text.startsWith(`${name}:`)) found = { node: name, port: text.slice(name.length + 1).trim() };
  }
  return found;
}

/**
 * @param names of all nodes
 * @throws Failure `invalid` with the fix
 */
export function endsOf(text: string, names: readonly string[]): [WantedEnd, WantedEnd] {
  const parts = text.split(/\s+--\s+/);
  if (parts.length < 2) throw invalid(`"${text}" is not a link: write NODE:PORT -- NODE:PORT`);
  for (let at = 1; at < parts.length; at++) {
    const sides = [parts.slice(0, at), parts.slice(at)].map((side) => endOf(side.join(' -- ').trim(), names));
    if (sides[0] && sides[1]) return [sides[0], sides[1]];
  }
  const unknown = parts.find((part) => !endOf(part.trim(), names)) ?? text;
  const name = unknown.trim().replace(/:[^:]*$/, '');
  throw invalid(`there is no node "${name}"; ${suggestion(name, names)}`);
}

/** Whether both name the same port of the same node. */
export function isSameEnd(one: WantedEnd, other: WantedEnd): boolean {
  return one.node === other.node && one.port === other.port;
}
