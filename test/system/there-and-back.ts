// A lab that becomes text and a lab again: nothing is lost on the way.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from './client.ts';

type Members = Record<string, unknown>;

/** What a server gives anew, or tells of its own host: identifiers, console ports, numbers, paths; and texts that became files. */
const GIVEN =
  /^(node_id|project_id|link_id|drawing_id|path|filename|console|console_host|node_directory|command_line|status|dynamips_id|application_id|aux|interfaces|container_id|capture_\w+|capturing|startup_script|(startup|private)_config_content)$/;

const plain = (value: unknown, names: ReadonlyMap<string, string>): unknown => {
  if (Array.isArray(value)) return value.map((one) => plain(one, names));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).flatMap(([name, one]) => {
    if (name === 'node_id' && names.has(one as string)) return [['node', names.get(one as string)]];
    return GIVEN.test(name) ? [] : [[name, plain(one, names)]];
  });
  return Object.fromEntries(members) as Members;
};

/** All that the API says of a lab but what servers give anew. */
async function objects({ daemon }: Client, id: string): Promise<Members> {
  const path = `/v2/projects/${id}`;
  const nodes = (await daemon.get(`${path}/nodes`)) as { node_id: string; name: string; node_type: string }[];
  const names = new Map(nodes.map((node) => [node.node_id, node.name.replaceAll(' ', '')]));
  const cleaned = nodes.map(({ node_id: _id, ...node }) =>
    plain({ ...node, name: node.name.replaceAll(' ', '') }, names),
  );
  return {
    lab: plain(await daemon.get(path), names),
    nodes: cleaned,
    // What has less than two ends is no link yet.
    links: plain(
      ((await daemon.get(`${path}/links`)) as { nodes: unknown[] }[]).filter((link) => link.nodes.length === 2),
      names,
    ),
    drawings: plain(await daemon.get(`${path}/drawings`), names),
  };
}

/** What a lab has that its file has not is said in comments; a lab that was made of the file has less of it. */
const withoutRemarks = (text: string): string => text.replaceAll(/^# (?!yaml-language-server).*\n/gm, '');

/** What the lab says as text is what it is. Answers the text and its file. */
export async function isItsText(labwired: Client, id: string): Promise<{ text: string; file: string }> {
  const text = await labwired.say('export', id, '--yaml');
  const file = `${id}.yaml`;
  writeFileSync(join(labwired.daemon.directory, file), `${text}\n`);
  assert.match(await labwired.say('plan', file), /nothing to do/, 'the lab is what its own text says');
  return { text, file };
}

/** Text -> no lab -> the lab again -> the same text, and the same objects. */
export async function thereAndBack(labwired: Client, id: string): Promise<void> {
  const { daemon } = labwired;
  const before = await objects(labwired, id);
  const { text, file } = await isItsText(labwired, id);
  await daemon.delete(`/v2/projects/${id}`);
  const { lab, left } = JSON.parse(await labwired.say('apply', file, '--json')) as {
    lab: { project_id: string };
    left: unknown[];
  };
  assert.deepEqual(left, []);
  const again = await labwired.say('export', lab.project_id, '--yaml');
  assert.equal(withoutRemarks(again), withoutRemarks(text));
  assert.deepEqual(await objects(labwired, lab.project_id), before);
  await daemon.delete(`/v2/projects/${lab.project_id}`);
}

/** So many labs at once: most of the time goes into starts of the client. */
export const TOGETHER = 3;
