// Checks references within a file: names that must exist, and members that belong together.

import { suggestion } from '../../host/values/nearest-name.ts';
import { configurationMistake } from './configurations.ts';
import type { Mistake } from './file-mistakes.ts';
import { endsOf, isSameEnd } from './link-ends.ts';
import { nodeKey, type WantedCheck, type WantedLab, type WantedNode } from './model.ts';
import type { Expected, Ping } from './schema.ts';

type Say = (message: string) => void;

/** All mistakes between members that are valid one by one. */
export function referenceMistakes(lab: WantedLab): Mistake[] {
  const mistakes: Mistake[] = [];
  const at =
    (place: { line: number; column: number }, what: string): Say =>
    (message) =>
      mistakes.push({ ...place, message: `${what}: ${message}` });
  const names = lab.nodes.map(({ name }) => name);
  const known = new Set(names.map(nodeKey));
  const named = (name: string, say: Say): void => {
    if (!known.has(nodeKey(name))) say(`there is no node "${name}"; ${suggestion(name, names)}`);
  };
  for (const node of lab.nodes) checkNode(node, at(node.place, `nodes.${node.name}`), named);
  for (const name of circle(lab.nodes)) {
    const node = lab.nodes.find((one) => one.name === name)!;
    at(node.place, `nodes.${name}.start.after`)('these nodes wait for each other in a circle; leave one of them out');
  }
  for (const [index, link] of lab.links.entries()) {
    const say = at(link.place, `links "${link.text}"`);
    const [one, other] = link.ends;
    if (one.node === other.node) say('both ends are at the same node; a link joins two');
    for (const end of link.ends) {
      if (end.port === '') say(`the port of ${end.node} is missing behind the colon`);
      if (end.port === undefined) continue;
      const taken = lab.links.slice(0, index).find(({ ends }) => ends.some((before) => isSameEnd(before, end)));
      if (taken)
        say(
          `${end.node}:${end.port} is an end of "${taken.text}" already (line ${taken.place.line}); name another port`,
        );
    }
  }
  mistakes.push(...checkMistakes(lab.checks, names, (text, say) => checkFrameLink(text, lab, names, say)));
  return mistakes;
}

/**
 * Mistakes in the checks' references.
 * @param names of the existing nodes
 * @param frameLink returns the mistake in a link's name, if links are known
 */
export function checkMistakes(
  checks: readonly WantedCheck[],
  names: readonly string[],
  frameLink: (text: string, say: Say) => void = () => {},
): Mistake[] {
  const known = new Set(names.map(nodeKey));
  const named = (name: string, say: Say): void => {
    if (!known.has(nodeKey(name))) say(`there is no node "${name}"; ${suggestion(name, names)}`);
  };
  return checks.flatMap(({ place, ping, console, frame }, index) => {
    const messages: string[] = [];
    const say: Say = (message) => void messages.push(message);
    if ([ping, console, frame].filter((one) => one !== undefined).length !== 1)
      say('a check has exactly one of ping, console and frame');
    if (ping) checkPing(ping, say, named);
    if (console) {
      named(console.node, say);
      checkExpected(console.expect, say);
    }
    if (frame) frameLink(frame.link, say);
    return messages.map((message) => ({ ...place, message: `checks.${index}: ${message}` }));
  });
}

function checkNode(node: WantedNode, say: Say, named: (name: string, say: Say) => void): void {
  const { template, type, template_id: id, start, name } = node;
  if (template === undefined && type === undefined) say('say what it is: template: NAME, or type: vpcs');
  if (template !== undefined && type !== undefined) say('it has a template and a type; leave one of them out');
  if (template !== undefined && id !== undefined) say('template_id goes with a type; leave it out');
  if (/\{(0|id|name)\}/.test(name)) say('servers number such a name; write the names out, or a range such as PC{1..3}');
  const wrong = type === undefined ? undefined : configurationMistake(type, node);
  if (wrong) say(wrong.message);
  for (const before of start.after ?? []) named(before, say);
  const { ready } = start;
  if (!ready) return;
  if ((ready.console === undefined) === (ready.ping === undefined)) say('start.ready has either console or ping');
  if (ready.console !== undefined) checkExpected(ready.console, say);
  else if (ready.send !== undefined) say('start.ready.send goes with console');
  if (ready.ping) checkPing(ready.ping, say, named);
}

function checkPing({ from, to }: Ping, say: Say, named: (name: string, say: Say) => void): void {
  named(from, say);
  if (/\s/.test(to)) named(to, say);
}

function checkExpected(expected: Expected, say: Say): void {
  if (typeof expected === 'string') return;
  try {
    new RegExp(expected.regex);
  } catch (error) {
    say(`"${expected.regex}" is no regular expression: ${(error as Error).message}`);
  }
}

/** A link of the file, by both ends or by one. */
function checkFrameLink(text: string, lab: WantedLab, names: readonly string[], say: Say): void {
  const links = lab.links.map((link) => link.text);
  if (links.includes(text)) return;
  let ends: ReturnType<typeof endsOf> | undefined;
  try {
    ends = endsOf(text, names);
  } catch {
    // It may be one end alone.
  }
  const meant = lab.links.filter(({ ends: [one, other] }) => {
    if (!ends) return [one, other].some(({ node, port }) => text === node || text === `${node}:${port}`);
    return (
      (isSameEnd(one, ends[0]) && isSameEnd(other, ends[1])) || (isSameEnd(one, ends[1]) && isSameEnd(other, ends[0]))
    );
  });
  if (meant.length === 0) say(`there is no link "${text}"; ${suggestion(text, links)}`);
  if (meant.length > 1) say(`"${text}" is an end of ${meant.length} links; name one by its port`);
}

/** Names of nodes that wait for each other; empty when they do not. */
function circle(nodes: readonly WantedNode[]): string[] {
  const waiting = new Map(
    nodes.map(({ name, start }) => [nodeKey(name), { name, after: (start.after ?? []).map(nodeKey) }]),
  );
  for (;;) {
    const free = [...waiting].filter(([, { after }]) => after.every((one) => !waiting.has(one)));
    if (free.length === 0) return [...waiting.values()].slice(0, 1).map(({ name }) => name);
    for (const [key] of free) waiting.delete(key);
  }
}
