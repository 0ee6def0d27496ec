// Projects that are to have one directory, or one within the other, asked for at the same time: one gets it, whichever way it comes.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Body } from '../body.ts';
import { LabServer } from './lab-server.ts';

const TRIES = 40;
/** Refused for another project's sake, or because something is there by now. */
const REFUSED = [403, 409];

/** That of the answers one is a success, and the others are refusals; gives the project of the one. */
function theOne(answers: readonly { status: number; json: Body }[], what: string): Body {
  const made = answers.filter(({ status }) => status < 300);
  const others = answers.filter((answer) => !made.includes(answer));
  assert.equal(made.length, 1, `${what}: ${answers.map(({ status }) => status)}`);
  for (const { status, json } of others) assert.ok(REFUSED.includes(status), JSON.stringify(json));
  return made[0]!.json;
}

test('of projects that are created at one path at once, or one within the other, one is made', async (t) => {
  const server = await LabServer.start(t);
  const statuses = new Map<number, number>();
  for (let number = 0; number < TRIES; number++) {
    const path = `place-${number}`;
    const ids = number % 2 === 0 ? [{}, {}, {}] : [1, 2, 3].map(() => ({ project_id: randomUUID() }));
    const paths = number % 4 < 2 ? [path, path, path] : [path, join(path, 'inner'), join(path, 'inner')];
    const answers = await Promise.all(
      ids.map((id, index) =>
        server.call('POST', '/v2/projects', { name: `lab ${number} ${index}`, path: paths[index], ...id }),
      ),
    );
    for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1);
    const project = theOne(answers, path);
    await server.expect(204, 'DELETE', `/v2/projects/${project.project_id}`);
  }
  t.diagnostic(JSON.stringify(Object.fromEntries(statuses)));
  assert.ok((statuses.get(409) ?? 0) >= TRIES, 'most were refused because another one was being made there');
});

test('a creation, an import, a copy and a move that want one place at once: one has it, and the others leave nothing', async (t) => {
  const server = await LabServer.start(t);
  const original = await server.project('original', { auto_close: false });
  await server.hub(original, 'H1');
  const moved = await server.project('moved', { auto_close: false });
  await server.expect(204, 'POST', `/v2/projects/${moved.project_id}/close`);
  const archive = await (await server.request(`/v2/projects/${original.project_id}/export`)).arrayBuffer();
  for (let number = 0; number < 10; number++) {
    const path = `place-${number}`;
    const importing = async (): Promise<{ status: number; json: Body }> => {
      const query = `name=import-${number}&path=${encodeURIComponent(join(server.state, 'projects', path))}`;
      const target = `/v2/projects/${randomUUID()}/import?${query}`;
      const answer = await server.request(target, { method: 'POST', body: new Uint8Array(archive) });
      return { status: answer.status, json: await answer.json() };
    };
    const answers = await Promise.all([
      server.call('POST', '/v2/projects', { name: `created ${number}`, path }),
      importing(),
      server.call('POST', `/v2/projects/${original.project_id}/duplicate`, { name: `copy ${number}`, path }),
      server.call('PUT', `/v2/projects/${moved.project_id}`, { path }),
    ]);
    const { project_id: id } = theOne(answers, path);
    const there: Body[] = await server.expect(200, 'GET', '/v2/projects');
    const at = there.filter((project) => project.path === join(server.state, 'projects', path));
    assert.deepEqual(
      at.map((project) => project.project_id),
      [id],
    );
  }
  const count = (await server.expect(200, 'GET', '/v2/projects')).length;
  await server.stop();
  await server.start();
  const after: Body[] = await server.expect(200, 'GET', '/v2/projects');
  assert.equal(after.length, count);
  assert.deepEqual(
    after.filter(({ damaged }) => damaged),
    [],
  );
});
