// Verbs about whole labs, cut off before each step on the disk: what a killed server leaves there is copied in that moment, and a server that
// starts on the copy has the lab exactly as it was, or exactly as it was to be. Nothing half, and nothing left over.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Database } from '../../src/store/database.ts';
import type { Body } from '../body.ts';
import { LabServer, until } from '../controller/lab-server.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { type Figure, rig } from './rig.ts';

/** Called before each step that changes the disk. */
let beforeStep: ((step: string) => void) | undefined;

const CHANGES = ['copyFile', 'mkdir', 'mkdtemp', 'rename', 'rm', 'rmdir', 'symlink', 'unlink', 'utimes', 'writeFile'];

function watch(holder: object, names: readonly string[]): void {
  // biome-ignore lint/suspicious/noExplicitAny: whatever the method takes and answers
  const methods = holder as Record<string, (this: any, ...values: any[]) => any>;
  for (const name of names) {
    const original = methods[name]!;
    methods[name] = function (...values) {
      beforeStep?.(name);
      return original.apply(this, values);
    };
  }
}

{
  watch(fs.promises, CHANGES);
  syncBuiltinESMExports();
  const handle = await fs.promises.open('/');
  watch(Object.getPrototypeOf(handle), ['write', 'writeFile', 'truncate', 'utimes']);
  await handle.close();
  watch(Database.prototype, ['run', 'transaction']);
}

/** Everything below a directory that counts: the database is compared by what the server answers. */
function contents(directory: string): string {
  const found: string[] = [];
  for (const entry of fs.readdirSync(directory, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    // The answers tell what is in the topology; temporary files go a moment after the start, when they are older than the process.
    if (/\.gns3$|\.labwire-tmp$/.test(entry.name)) continue;
    // The folders that nodes of one kind share are nobody's.
    if (entry.isDirectory() && /\/project-files\/[a-z]+$/.test(path)) continue;
    const text = entry.isFile() ? fs.readFileSync(path, 'latin1') : entry.isSymbolicLink() ? fs.readlinkSync(path) : '';
    found.push(`${path} ${createHash('sha1').update(text).digest('hex')}`);
  }
  return found.sort().join('\n');
}

interface Images {
  directories: string[];
  steps: string[];
}

/** Of a copy: what a start looks at. What is put together is thrown away, but for the notes and what was taken out of the way. */
const WHAT_COUNTS = `rm -f labwire.db-shm reserve
find . -type f ! -name '*.labwire-tmp' \\( ! -path '*/.labwire-staging-*' -o -name exchange.json -o -path '*/before/*' \\) -exec sha1sum {} + | sort`;

/** Copies the state directory before each step of the task, as often as it differs from the last copy. */
async function imagesOf(t: TestContext, state: string, task: () => Promise<unknown>): Promise<Images> {
  const place = await scratchDirectory(t);
  const images: Images = { directories: [], steps: [] };
  const seen = new Set<string>();
  beforeStep = (step) => {
    const target = join(place, String(images.directories.length));
    // A copy as a killed process leaves it; what SQLite holds in shared memory is made again.
    execFileSync('cp', ['-a', state, target]);
    const key = execFileSync('sh', ['-c', WHAT_COUNTS], {
      cwd: target,
    });
    if (seen.has(key.toString())) {
      fs.rmSync(target, { recursive: true });
      return;
    }
    seen.add(key.toString());
    images.directories.push(target);
    images.steps.push(step);
  };
  try {
    await task();
    beforeStep('the end');
  } finally {
    beforeStep = undefined;
  }
  return images;
}

/** What clients see, identifiers and times of what is made anew left out, and the files. */
async function seen(server: LabServer): Promise<object> {
  const projects: Body[] = await server.expect(200, 'GET', '/v2/projects');
  const opening = async (): Promise<boolean> => {
    const answers = projects.map(({ project_id: id }) => server.expect(200, 'GET', `/v2/projects/${id}/stats`));
    return (await Promise.all(answers)).length === projects.length;
  };
  await until(opening, 'the labs to be open');
  const labs = [];
  for (const { project_id: id, path, ...project } of await server.expect(200, 'GET', '/v2/projects')) {
    const kinds = ['nodes', 'links', 'drawings', 'snapshots'];
    const lists = await Promise.all(kinds.map((kind) => server.expect(200, 'GET', `/v2/projects/${id}/${kind}`)));
    const nodes = lists[0].map(({ name, x, status }: Body) => ({ name, x, status }));
    const snapshots = lists[3].map(({ name }: Body) => name);
    labs.push({ id, path, project, nodes, links: lists[1].length, drawings: lists[2].length, snapshots });
  }
  labs.sort((one, other) => (one.id < other.id ? -1 : 1)); // a new one is listed last, and by its folder's name after a start
  return { labs, files: contents(join(server.state, 'projects')) };
}

interface Verb {
  name: string;
  prepare(server: LabServer): Promise<Body>;
  run(server: LabServer, prepared: Body): Promise<unknown>;
}

async function lab(server: LabServer): Promise<Body> {
  const project = await server.project('lab', { auto_close: false, variables: [{ name: 'A', value: 'then' }] });
  const [one, two] = [await server.hub(project, 'H1', { x: 1 }), await server.hub(project, 'H2')];
  await server.link(project, [one, 0], [two, 0]);
  await fs.promises.writeFile(join(project.path, 'README.txt'), 'then');
  await fs.promises.mkdir(join(project.path, 'project-files/captures'), { recursive: true });
  await fs.promises.writeFile(join(project.path, 'project-files/kept'), 'then');
  return project;
}

const VERBS: Verb[] = [
  {
    name: 'create a project',
    prepare: (server) => lab(server),
    run: (server) => server.project('another', { auto_close: false }),
  },
  {
    name: 'delete an open project',
    prepare: (server) => lab(server),
    run: (server, { project_id: id }) => server.expect(204, 'DELETE', `/v2/projects/${id}`),
  },
  {
    name: 'restore a snapshot',
    async prepare(server) {
      const project = await lab(server);
      const path = `/v2/projects/${project.project_id}`;
      const { snapshot_id: id } = await server.expect(201, 'POST', `${path}/snapshots`, { name: 'then' });
      await server.hub(project, 'H3', { x: 3 });
      await server.expect(200, 'PUT', path, { variables: [{ name: 'A', value: 'now' }], zoom: 50 });
      await fs.promises.writeFile(join(project.path, 'README.txt'), 'now');
      await fs.promises.rm(join(project.path, 'project-files/kept'));
      await fs.promises.writeFile(join(project.path, 'project-files/late'), 'now');
      return `${path}/snapshots/${id}/restore`;
    },
    run: (server, path) => server.expect(201, 'POST', path),
  },
  {
    name: 'move a closed project',
    async prepare(server) {
      const project = await lab(server);
      await server.expect(204, 'POST', `/v2/projects/${project.project_id}/close`);
      return project;
    },
    run: (server, { project_id: id }) => server.expect(200, 'PUT', `/v2/projects/${id}`, { path: 'moved' }),
  },
  {
    name: 'close a project with a running PC and an unused picture',
    async prepare(server) {
      const project = await lab(server);
      const path = `/v2/projects/${project.project_id}`;
      const pc = { name: 'PC1', node_type: 'vpcs', compute_id: 'local' };
      const { node_id: id } = await server.expect(201, 'POST', `${path}/nodes`, pc);
      await server.expect(200, 'POST', `${path}/nodes/${id}/start`);
      await fs.promises.mkdir(join(project.path, 'project-files/images'), { recursive: true });
      await fs.promises.writeFile(join(project.path, 'project-files/images/unused.png'), 'then');
      return path;
    },
    run: (server, path) => server.expect(204, 'POST', `${path}/close`),
  },
  {
    name: 'duplicate a project',
    prepare: (server) => lab(server),
    run: (server, { project_id: id }) => server.expect(201, 'POST', `/v2/projects/${id}/duplicate`, { name: 'copy' }),
  },
  {
    name: 'import an archive',
    async prepare(server) {
      const { project_id: id } = await lab(server);
      const path = `/v2/projects/${id}`;
      await server.expect(201, 'POST', `${path}/snapshots`, { name: 'inner' });
      return (await server.request(`${path}/export?include_snapshots=yes`)).arrayBuffer();
    },
    async run(server, archive) {
      const options = { method: 'POST', body: new Uint8Array(archive) };
      const answer = await server.request(`/v2/projects/${randomUUID()}/import?name=imported`, options);
      assert.equal(answer.status, 201, await answer.text());
    },
  },
  {
    name: 'create a node',
    prepare: (server) => lab(server),
    run: (server, project) => server.hub(project, 'H3'),
  },
  {
    name: 'create a PC',
    prepare: (server) => lab(server),
    run: (server, { project_id: id }) => {
      const properties = { startup_script: 'set pcname then' };
      const pc = { name: 'PC1', node_type: 'vpcs', compute_id: 'local', properties };
      return server.expect(201, 'POST', `/v2/projects/${id}/nodes`, pc);
    },
  },
  {
    name: 'duplicate a PC',
    async prepare(server) {
      const { project_id: id } = await lab(server);
      const path = `/v2/projects/${id}/nodes`;
      const properties = { startup_script: 'set pcname then' };
      const pc = { name: 'PC1', node_type: 'vpcs', compute_id: 'local', properties };
      const { node_id: node } = await server.expect(201, 'POST', path, pc);
      return `${path}/${node}/duplicate`;
    },
    run: (server, path) => server.expect(201, 'POST', path, { x: 5, y: 5, z: 1 }),
  },
  {
    name: 'rename a PC',
    async prepare(server) {
      const { project_id: id } = await lab(server);
      const path = `/v2/projects/${id}/nodes`;
      const properties = { startup_script: 'set pcname %h\necho PC1 is here' };
      const pc = { name: 'PC1', node_type: 'vpcs', compute_id: 'local', properties };
      const { node_id: node } = await server.expect(201, 'POST', path, pc);
      return `${path}/${node}`;
    },
    run: (server, path) => server.expect(200, 'PUT', path, { name: 'Renamed' }),
  },
  {
    name: 'delete a node with its link',
    async prepare(server) {
      const project = await lab(server);
      const path = `/v2/projects/${project.project_id}/nodes`;
      const nodes: Body[] = await server.expect(200, 'GET', path);
      return `${path}/${nodes.find(({ name }) => name === 'H1').node_id}`;
    },
    run: (server, path) => server.expect(204, 'DELETE', path),
  },
];

/** Places at which a verb is cut off; of more, as many are taken, spread over all. */
const MOST_PLACES = 60;

function sample(images: Images): Images {
  const { directories, steps } = images;
  const all = directories.length;
  if (all <= MOST_PLACES) return images;
  const taken = Array.from({ length: MOST_PLACES }, (_, index) => Math.round((index * (all - 1)) / (MOST_PLACES - 1)));
  return { directories: taken.map((at) => directories[at]!), steps: taken.map((at) => steps[at]!) };
}

const OPTIONS = {
  name: 'interrupted',
  promise: 'a change of a whole lab that is interrupted anywhere is done completely or not at all',
};

rig(OPTIONS, async (t) => {
  const figures: Figure[] = [];
  for (const verb of VERBS) {
    await t.test(verb.name, async (inner) => {
      figures.push(await cutOff(inner, verb));
    });
  }
  return figures;
});

async function cutOff(t: TestContext, { name, prepare, run }: (typeof VERBS)[number]): Promise<Figure> {
  const server = await LabServer.start(t, { 'VPCS.engine': 'built-in' });
  const prepared = await prepare(server);
  const before = await seen(server);
  const all = await imagesOf(t, server.state, () => run(server, prepared));
  const images = sample(all);
  const after = await seen(server);
  assert.ok(images.directories.length > 1, 'steps were seen');
  assert.notDeepEqual(before, after);
  const counts = { old: 0, new: 0 };
  for (const [index, directory] of images.directories.entries()) {
    await server.stop();
    fs.rmSync(server.state, { recursive: true });
    fs.renameSync(directory, server.state);
    await server.start();
    const now = await seen(server);
    const kind = isSame(now, before) ? 'old' : 'new';
    if (kind === 'new') assert.deepEqual(now, after, `cut off before step ${index}, ${images.steps[index]}`);
    counts[kind] += 1;
  }
  const places = `${images.directories.length} of ${all.directories.length} places`;
  return { what: `${name}: interrupted at ${places}`, value: `${counts.old} as before, ${counts.new} done` };
}

function isSame(one: object, other: object): boolean {
  try {
    assert.deepEqual(one, other);
    return true;
  } catch {
    return false;
  }
}
