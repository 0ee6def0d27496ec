// Images belong to all labs: no user changes one, whatever the node asks for.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { noQemu, qemuImg, SMALL } from '../compute/qemu-support.ts';
import { addPeople, serve } from './people-here.ts';

test('machines of users never write to an image, those of admins do', { skip: noQemu }, async (t) => {
  const served = await serve(t);
  const { ada, bob } = await addPeople(served, { ada: 'admin', bob: 'user', olga: 'observer' });
  const folder = join(served.state, 'images/QEMU');
  await mkdir(folder, { recursive: true });
  const image = join(folder, 'shared.qcow2');
  await qemuImg('create', '-q', '-f', 'qcow2', image, '4M');
  const original = await readFile(image);
  const unchanged = async (after: string): Promise<void> =>
    assert.deepEqual(await readFile(image), original, `the image is as it was after ${after}`);
  const json = async (answer: ReturnType<typeof bob>, status = 201) => {
    const { status: got, text } = await answer;
    assert.equal(got, status, text);
    return text === '' ? undefined : JSON.parse(text);
  };
  const machine = (linked: boolean) => ({
    ...{ name: 'M', node_type: 'qemu', compute_id: 'local' },
    properties: { ...SMALL, adapters: 0, linked_clone: linked, hda_disk_image: 'shared.qcow2' },
  });
  const grow = { drive_name: 'hda', extend: 7 };

  const lab = await json(bob('POST', '/v2/projects', { name: 'Of Bob', auto_close: false }));
  const nodes = `/v2/projects/${lab.project_id}/nodes`;
  const first = await json(bob('POST', nodes, machine(false)));
  const second = await json(bob('POST', nodes, machine(false))); // nobody holds the image
  await json(bob('POST', `${nodes}/${first.node_id}/resize_disk`, grow));
  await unchanged('a machine that was made without linked_clone');
  await json(bob('PUT', `${nodes}/${second.node_id}`, { properties: { linked_clone: true } }), 200);
  await json(bob('PUT', `${nodes}/${second.node_id}`, { properties: { linked_clone: false } }), 200);
  await json(ada('POST', `${nodes}/${second.node_id}/resize_disk`, grow));
  await unchanged('a change, and a step of an admin in the lab of a user');
  const copy = await json(bob('POST', `${nodes}/${first.node_id}/duplicate`, { x: 1, y: 1 }));
  await json(bob('POST', `${nodes}/${copy.node_id}/resize_disk`, grow));
  await unchanged('a copy of the node');

  const template = await json(
    ada('POST', '/v2/templates', {
      ...{ name: 'T', template_type: 'qemu', compute_id: 'local', ...SMALL, adapters: 0 },
      ...{ linked_clone: false, hda_disk_image: 'shared.qcow2' },
    }),
  );
  const [from] = [
    await json(bob('POST', `/v2/projects/${lab.project_id}/templates/${template.template_id}`, { x: 0, y: 0 })),
  ];
  await json(bob('POST', `${nodes}/${from.node_id}/start`), 200);
  const { command_line: words } = await json(bob('GET', `${nodes}/${from.node_id}`), 200);
  assert.match(words, /hda_disk\.qcow2/);
  assert.doesNotMatch(words, /shared\.qcow2/);
  await json(bob('POST', `${nodes}/${from.node_id}/stop`), 200);
  await unchanged('a machine of a template');

  await json(bob('POST', `/v2/projects/${lab.project_id}/close`), 204);
  await json(bob('POST', `/v2/projects/${lab.project_id}/open`));
  await json(bob('POST', `${nodes}/${first.node_id}/resize_disk`, grow));
  await unchanged('an opening of the lab');
  await json(bob('POST', `/v2/projects/${lab.project_id}/close`), 204);

  const own = await json(ada('POST', '/v2/projects', { name: 'Of Ada', auto_close: false }));
  const ofAda = `/v2/projects/${own.project_id}`;
  const writer = await json(ada('POST', `${ofAda}/nodes`, machine(false)));
  await json(ada('POST', `${ofAda}/nodes/${writer.node_id}/start`), 200);
  const share = { accounts: { bob: 'change' } };
  const refused = await json(ada('PUT', `${ofAda}/sharing`, share), 409);
  assert.match(refused.message, /"M-?1?" runs and writes to a disk image that all labs share/);
  await json(ada('PUT', `${ofAda}/sharing`, { accounts: { olga: 'change' } }), 200);
  const promoted = await json(ada('PUT', '/v2/accounts/olga', { role: 'user' }), 409);
  assert.equal(promoted.message, refused.message);
  await json(ada('POST', `${ofAda}/nodes/${writer.node_id}/stop`), 200);
  await json(ada('PUT', `${ofAda}/sharing`, share), 200);
  await json(bob('POST', `${ofAda}/nodes/${writer.node_id}/resize_disk`, grow));
  await unchanged('a machine of an admin in a lab that is shared later');

  const prepared = await json(
    ada('POST', '/v2/projects', { name: 'Images', auto_close: false, project_id: randomUUID() }),
  );
  const master = await json(ada('POST', `/v2/projects/${prepared.project_id}/nodes`, machine(false)));
  await json(ada('POST', `/v2/projects/${prepared.project_id}/nodes/${master.node_id}/resize_disk`, grow));
  assert.notDeepEqual(await readFile(image), original, 'admins prepare images');
});
