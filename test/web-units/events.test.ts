// The page's model of a lab against a real server: nothing that happens while its connection is away is lost.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { basicHeader } from '../../src/http/access/authentication.ts';
import { Source } from '../../src/web/capture/source.ts';
import { Connection } from '../../src/web/console/connection.ts';
import { pasteSlowly } from '../../src/web/console/slow-paste.ts';
import { draftPaths, isUnsaved, keepDraft } from '../../src/web/model/lab/file-drafts.ts';
import { Lab } from '../../src/web/model/lab/lab.ts';
import { Labs } from '../../src/web/model/lab/labs.ts';
import { api } from '../../src/web/model/server/api.ts';
import { begin, tasks } from '../../src/web/tasks/page-tasks.ts';
import { LabServer, until } from '../controller/lab-server.ts';
import { addPeople, PASSWORD, serve } from '../controller/people-here.ts';
import { SlowWay } from '../web/slow-way.ts';
import { Way } from '../web/way.ts';

/** `fetch` and sockets resolve addresses as in a page of the server, over a way that can be cut. */
async function inPage(t: TestContext, server: { port: number }, path: string, headers = {}): Promise<Way> {
  const way = new Way(() => server.port);
  const origin = `http://127.0.0.1:${await way.open(t)}`;
  const known = Object.getOwnPropertyDescriptor(globalThis, 'location');
  const plain = globalThis.fetch;
  Object.defineProperty(globalThis, 'location', { configurable: true, value: new URL(`${origin}${path}`) });
  globalThis.fetch = (path, init) =>
    plain(new URL(String(path), origin), { ...init, headers: { ...init?.headers, ...headers } });
  t.after(() => {
    globalThis.fetch = plain;
    if (known) Object.defineProperty(globalThis, 'location', known);
    else Reflect.deleteProperty(globalThis, 'location');
  });
  return way;
}

/** A lab of the server as the page has it. */
async function shown(t: TestContext, server: { port: number }, id: string): Promise<{ lab: Lab; way: Way }> {
  const way = await inPage(t, server, `/labs/${id}`);
  const lab = new Lab(id);
  t.after(() => lab.stop());
  lab.start();
  await until(() => lab.state.value === 'open', 'the lab');
  return { lab, way };
}

const names = (lab: Lab): string[] => [...lab.nodes.values()].map(({ name }) => name).sort();

test('a lab that is found closed, without a word of its nodes, has none that runs: nothing asks for their consoles', async (t) => {
  const { server, project, path } = await LabServer.withLab(
    t,
    { name: 'closed unseen', auto_close: false },
    { 'VPCS.engine': 'built-in' },
  );
  const pc = await server.expect(201, 'POST', `${path}/nodes`, { name: 'PC', node_type: 'vpcs', compute_id: 'local' });
  await server.expect(200, 'POST', `${path}/nodes/${pc.node_id}/start`);
  const { lab } = await shown(t, server, project.project_id);
  await until(() => lab.nodes.get(pc.node_id)?.status === 'started', 'the start');
  // As across a restart of the server: no events.
  lab.stop();
  await server.expect(204, 'POST', `${path}/close`);
  await lab.read();
  assert.equal(lab.state.value, 'closed');
  assert.equal(lab.nodes.get(pc.node_id)?.status, 'stopped');
});

test('labs that are created and deleted while the list is first read are in it and not in it', async (t) => {
  const server = await LabServer.start(t);
  const old = await server.project('Old');
  await inPage(t, server, '/');
  const { fetch } = globalThis;
  const { promise: gate, resolve: go } = Promise.withResolvers<void>();
  let isAnswered = false;
  globalThis.fetch = async (path, init) => {
    const answer = await fetch(path, init);
    if (path !== '/v2/projects') return answer;
    isAnswered = true;
    await gate;
    return answer;
  };
  const labs = new Labs();
  t.after(() => labs.events.stop());
  labs.events.start();
  await until(() => isAnswered, 'the list of before');
  const heard = labs.events.lastMessage;
  const isHeard = async (what: string, change: () => Promise<unknown>): Promise<void> => {
    heard.value = 0;
    await change();
    await until(() => heard.value > 0, what);
  };
  await isHeard('the event of the creation', () => server.project('New'));
  await isHeard('the event of the deletion', () => server.expect(204, 'DELETE', `/v2/projects/${old.project_id}`));
  go();
  // A creation has more events than one: the last may come after the list.
  const names = (): string => [...(labs.list.value?.values() ?? [])].map(({ name }) => name).join();
  await until(() => names() === 'New', 'the list');
  // A lab that is created while the times are read is not missing: the list is not read again for it.
  const times = Promise.withResolvers<void>();
  const asked: string[] = [];
  globalThis.fetch = async (path, init) => {
    asked.push(String(path));
    const answer = await fetch(path, init);
    if (asked.length === 1) await times.promise;
    return answer;
  };
  const reading = labs.readChanges();
  await until(() => asked.length === 1, 'the reading');
  await sleep(300); // until the answer of before has come
  await server.project('Newer');
  await until(() => labs.list.value!.size === 2, 'the newer one');
  times.resolve();
  await reading;
  assert.ok(!asked.includes('/v2/projects'), `${asked}`);
});

test('a lab that is renamed while its nodes are first read has its new name', async (t) => {
  const { server, project, path } = await LabServer.withLab(t, { name: 'Old', auto_close: false });
  const { promise: gate, resolve: go } = Promise.withResolvers<void>();
  const lab = new Lab(project.project_id);
  await inPage(t, server, '/');
  t.after(() => lab.stop());
  const { fetch } = globalThis;
  let isAsked = false;
  globalThis.fetch = async (address, init) => {
    const isNodes = String(address).endsWith('/nodes');
    isAsked ||= isNodes;
    if (isNodes) await gate;
    return fetch(address, init);
  };
  const told = await server.record('/v2/notifications/ws');
  lab.start();
  await until(() => isAsked, 'the reading of the nodes');
  await server.expect(200, 'PUT', path, { name: 'New' });
  await until(() => told.some(({ event }) => event.name === 'New'), 'the event');
  await sleep(300); // until it has come here, too
  go();
  await until(() => lab.state.value === 'open', 'the lab');
  assert.equal(lab.project.value?.name, 'New');
});

test('a lab that is shared no longer leaves the list, and its screen ends; one that cannot be read keeps its state', async (t) => {
  const served = await serve(t);
  const { bob, ada } = await addPeople(served, { ada: 'admin', bob: 'user', eve: 'user' });
  const id = JSON.parse((await bob('POST', '/v2/projects', { name: 'Thesis', auto_close: false })).text).project_id;
  const path = `/v2/projects/${id}`;
  const hub = { name: 'Hub', node_type: 'ethernet_hub', compute_id: 'local' };
  assert.equal((await bob('POST', `${path}/nodes`, hub)).status, 201);
  const share = async (right: string): Promise<void> =>
    assert.equal((await bob('PUT', `${path}/sharing`, { update: { eve: right } })).status, 200);
  await share('watch');
  const authorization = basicHeader({ user: 'eve', password: PASSWORD });
  await inPage(t, { port: served.daemon.address.port }, '/', { authorization });
  const opened = async (): Promise<Lab> => {
    const lab = new Lab(id);
    t.after(() => lab.stop());
    lab.start();
    await until(() => lab.state.value === 'open', 'the lab');
    return lab;
  };
  const labs = new Labs();
  t.after(() => labs.events.stop());
  labs.events.start();
  await until(() => labs.list.value?.has(id) === true, 'the list');
  const withdrawn = await opened();
  await share('none');
  await until(() => withdrawn.state.value === 'deleted', 'the end of the screen');
  assert.ok(withdrawn.isShown);
  const { fetch } = globalThis;
  let asked = 0;
  globalThis.fetch = (address, init) => {
    asked += 1;
    return fetch(address, init);
  };
  await sleep(1_500);
  assert.equal(asked, 0, 'it does not connect again');
  await labs.readChanges();
  await until(() => labs.list.value?.has(id) === false, 'the list without it');

  await share('watch');
  const refused = await opened();
  assert.equal((await ada('PUT', '/v2/accounts/eve', { password: 'another good one' })).status, 200);
  await until(() => refused.state.value === 'refused', 'the refusal');
  assert.ok(refused.isShown && !refused.canAsk && refused.endedAt.value > 0);
  assert.deepEqual(
    [...refused.nodes.values()].map(({ status }) => status),
    ['started'],
  );
});

test('a snapshot whose answer is lost is what the server says of it, so that no second one is made', async (t) => {
  const { server, project, path } = await LabServer.withLab(t, { name: 'unanswered', auto_close: false });
  const way = await inPage(t, server, '/');
  const { fetch } = globalThis;
  let lose = (answer: Promise<Response>): Promise<unknown> => answer;
  globalThis.fetch = async (address, init) => {
    const isSnapshot = String(address).endsWith('/snapshots') && init?.method === 'POST';
    if (!isSnapshot) return fetch(address, init);
    await lose(fetch(address, init));
    throw new TypeError('Failed to fetch');
  };
  const make = (name: string): Promise<unknown> =>
    begin({ kind: 'snapshot', name, projectId: project.project_id }, (operation) =>
      api.post(`/projects/${project.project_id}/snapshots`, { name }, operation),
    );
  const task = (name: string) => tasks.list().find((each) => each.name === name);
  const made = async (): Promise<string[]> =>
    (await server.expect(200, 'GET', `${path}/snapshots`)).map(({ name }: { name: string }) => name);

  assert.equal(await make('Done'), undefined);
  assert.equal(task('Done')?.state, 'done');

  // With the answer, the whole connection is lost for a while.
  lose = async (answer) => {
    await answer;
    way.cut();
  };
  await assert.rejects(make('Away'), /does not answer\. The change may have been made all the same/);
  assert.equal(task('Away')?.state, 'waiting');
  way.mend();
  await until(() => task('Away')?.state === 'done', 'what became of it');

  await assert.rejects(
    begin({ kind: 'restore', name: 'Never' }, () =>
      api.post(`/projects/${project.project_id}/snapshots/${project.project_id}/restore`, {}),
    ),
    { status: 404 },
  );
  assert.equal(task('Never')?.state, 'failed');

  // The server knows nothing of it, as after a restart.
  lose = async (answer) => void (await answer);
  const forgetful = globalThis.fetch;
  globalThis.fetch = async (address, init) =>
    String(address) === '/v2/operations' ? new Response('[]') : forgetful(address, init);
  await assert.rejects(make('Unknown'), /may have been made all the same/);
  assert.match(task('Unknown')?.message ?? '', /may have been made all the same/);
  assert.equal(typeof task('Unknown')?.actions.retry, 'function');
  assert.deepEqual((await made()).sort(), ['Away', 'Done', 'Unknown']);
});

test('packets of a capture stay while its connection is away: they are forgotten when they come again', async (t) => {
  const { server, project } = await LabServer.withLab(t, { name: 'capture', auto_close: false });
  const [one, other] = [await server.hub(project, 'One'), await server.hub(project, 'Other')];
  const { link_id: id } = await server.link(project, [one, 0], [other, 0]);
  const path = `/projects/${project.project_id}/links/${id}`;
  await server.expect(201, 'POST', `/v2${path}/start_capture`, {});
  const way = await inPage(t, server, '/');
  const states: string[] = [];
  const source = new Source(
    { name: 'One', path: `${path}/pcap/ws`, query: {}, start: 0 },
    0,
    {},
    {
      begun: () => void states.push('forgotten'),
      frames: () => {},
      changed: () => void (states.at(-1) !== source.connection && states.push(source.connection)),
    },
  );
  await until(() => source.connection === 'open', 'the capture');
  way.cut();
  // Once more in vain.
  await until(() => states.filter((state) => state === 'lost').length === 2, 'the second loss');
  way.mend();
  await until(() => source.connection === 'open', 'the capture again');
  await server.expect(201, 'POST', `/v2${path}/stop_capture`);
  await until(() => source.connection === 'ended', 'the end');
  assert.deepEqual(states, [
    'forgotten',
    'open',
    'lost',
    'connecting',
    'lost',
    'connecting',
    'forgotten',
    'open',
    'ended',
  ]);
});

test('a capture that starts again is read again', async (t) => {
  const { server, project } = await LabServer.withLab(t, { name: 'captured twice', auto_close: false });
  const [one, other] = [await server.hub(project, 'One'), await server.hub(project, 'Other')];
  const { link_id: id } = await server.link(project, [one, 0], [other, 0]);
  const path = `/projects/${project.project_id}/links/${id}`;
  const capture = (what: 'start' | 'stop') => server.expect(201, 'POST', `/v2${path}/${what}_capture`, {});
  const { lab } = await shown(t, server, project.project_id);
  const starts = (): number => lab.captureStarts.get(id) ?? 0;
  assert.equal(starts(), 0);
  await capture('start');
  await until(() => starts() === 1, 'the first start');
  const states: string[] = [];
  const source = new Source(
    { name: 'One', path: `${path}/pcap/ws`, query: {}, start: 1 },
    0,
    {},
    {
      begun: () => {},
      frames: () => {},
      changed: () => void (states.at(-1) !== source.connection && states.push(source.connection)),
    },
  );
  await until(() => source.connection === 'open', 'the capture');
  await capture('stop');
  await until(() => source.connection === 'ended', 'its end');
  source.again(1);
  await capture('start');
  await until(() => starts() === 2, 'the second start');
  source.again(starts());
  await until(() => source.connection === 'open', 'the second capture');
  await capture('stop');
  await until(() => source.connection === 'ended', 'the second end');
  assert.deepEqual(states, ['open', 'ended', 'connecting', 'open', 'ended']);
});

test('a slow paste ends at the line that a broken connection has swallowed, though the console is back with its output at once', async (t) => {
  const settings = { 'VPCS.engine': 'built-in' };
  const { server, path } = await LabServer.withLab(t, { name: 'paste', auto_close: false }, settings);
  const pc = await server.expect(201, 'POST', `${path}/nodes`, { name: 'PC', node_type: 'vpcs', compute_id: 'local' });
  await server.expect(200, 'POST', `${path}/nodes/${pc.node_id}/start`);
  const way = await inPage(t, server, '/');
  Object.assign(globalThis, { addEventListener: () => {}, removeEventListener: () => {} });
  let output = '';
  let heardAt = 0;
  const connection = new Connection({
    path: `${path.slice('/v2'.length)}/nodes/${pc.node_id}/console/ws`,
    opened: (socket) => {
      socket.onmessage = ({ data }) => {
        output += Buffer.from(data as ArrayBuffer).toString();
        heardAt = performance.now();
      };
    },
  });
  t.after(() => connection.stop());
  t.after(() => ['addEventListener', 'removeEventListener'].map((name) => Reflect.deleteProperty(globalThis, name)));
  connection.isRunning = true;
  await until(() => /> ?$/.test(output), 'the prompt');
  const target = {
    connection,
    send: (text: string) => connection.send(Buffer.from(text)),
    get lines() {
      return output.split('\n').length;
    },
    get quiet() {
      return performance.now() - heardAt;
    },
    get cursorLine() {
      return output.slice(output.lastIndexOf('\n') + 1);
    },
  };
  const progress = (line: number): void => {
    if (line !== 3) return;
    way.cut();
    way.mend();
  };
  const text = [1, 2, 3, 4, 5].map((line) => `echo line-${line}\n`).join('');
  assert.equal(await pasteSlowly(text, target, { signal: new AbortController().signal, progress }), 3);
  await until(() => connection.state.value === 'open', 'the return');
  assert.doesNotMatch(output, /line-[345]/);
});

test('changes of the time without a connection come in order, and are counted', async (t) => {
  const { server, project, path } = await LabServer.withLab(t, { name: 'cut off', auto_close: false });
  const hub = await server.hub(project, 'Hub');
  const { lab, way } = await shown(t, server, project.project_id);
  way.cut();
  await until(() => lab.events.connection.value === 'lost', 'the loss');
  assert.equal(lab.canAsk, false);
  for (let at = 0; at < 20; at += 1) await server.expect(200, 'PUT', `${path}/nodes/${hub.node_id}`, { x: at });
  await server.hub(project, 'Other');
  way.mend();
  // The node's moves and the new node; the first move was none.
  await until(() => lab.notice.value === '20 changes while away', 'what is said of the return');
  assert.deepEqual(names(lab), ['Hub', 'Other']);
  assert.equal(lab.nodes.get(hub.node_id)?.x, 19);
  assert.equal(lab.canAsk, true);
});

test('on a slow line all changes of the time without a connection are counted, though they come one after the other', async (t) => {
  const { server, project, path } = await LabServer.withLab(t, { name: 'slow', auto_close: false });
  const slow = await SlowWay.to(t, server.port);
  const { lab, way } = await shown(t, slow, project.project_id);
  way.cut();
  await until(() => lab.events.connection.value === 'lost', 'the loss');
  for (let at = 0; at < 3; at += 1)
    await server.expect(201, 'POST', `${path}/drawings`, {
      svg: `<svg width="9" height="9"><desc>${randomBytes(50_000).toString('hex')}</desc></svg>`,
    });
  slow.rateBack = 100_000;
  way.mend();
  await until(() => lab.notice.value === '3 changes while away', 'what is said of the return');
  assert.equal(lab.drawings.size, 3);
});

test('a connection that breaks while missed events are sent loses nothing', async (t) => {
  const { server, project } = await LabServer.withLab(t, { name: 'cut twice', auto_close: false });
  const { lab, way } = await shown(t, server, project.project_id);
  way.cut();
  await until(() => lab.events.connection.value === 'lost', 'the loss');
  for (let at = 0; at < 30; at += 1) await server.hub(project, `H${at}`);
  // Cut again with the first message: the stream's number is ahead of what was told then.
  const stop = lab.events.connection.subscribe((connection) => {
    if (connection === 'live') queueMicrotask(() => way.cut());
  });
  way.mend();
  await until(() => way.isCut, 'the second cut');
  stop();
  way.mend();
  await until(() => lab.nodes.size === 30, 'all nodes');
});

test('a lab that the server refuses to read is read again with the connection', async (t) => {
  const { server, project } = await LabServer.withLab(t, { name: 'refused', auto_close: false });
  const { lab, way } = await shown(t, server, project.project_id);
  const { fetch } = globalThis;
  globalThis.fetch = async () => Response.json({ status: 401, message: 'Who are you?' }, { status: 401 });
  await lab.read();
  assert.equal(lab.state.value, 'refused');
  way.cut();
  await until(() => lab.events.connection.value === 'lost', 'the loss');
  globalThis.fetch = fetch;
  way.mend();
  await until(() => lab.state.value === 'open', 'the lab');
  assert.deepEqual([lab.endedAt.value, lab.problem.value], [0, '']);
});

test('after more events than the server keeps, everything is read again', async (t) => {
  const { server, project } = await LabServer.withLab(t, { name: 'long away', auto_close: false });
  const hub = await server.hub(project, 'Hub');
  const gone = await server.hub(project, 'Gone');
  const { lab, way } = await shown(t, server, project.project_id);
  way.cut();
  await until(() => lab.events.connection.value === 'lost', 'the loss');
  const path = `/v2/projects/${project.project_id}/nodes`;
  await server.expect(204, 'DELETE', `${path}/${gone.node_id}`);
  // The server keeps 4,096.
  for (let x = 1; x <= 4_097; x++) await server.expect(200, 'PUT', `${path}/${hub.node_id}`, { x });
  way.mend();
  await until(() => lab.nodes.get(hub.node_id)?.x === 4_097, 'the state of now');
  assert.deepEqual(names(lab), ['Hub']);
  assert.match(lab.notice.value, /read again/);
});

test('a lab that is closed or deleted by others stays in sight with its time', async (t) => {
  const { server, project, path } = await LabServer.withLab(t, { name: 'ends', auto_close: false });
  const hub = await server.hub(project, 'Hub');
  const { lab } = await shown(t, server, project.project_id);
  await server.expect(204, 'POST', `${path}/close`);
  await until(() => lab.state.value === 'closed', 'the closing');
  assert.ok(lab.isShown && !lab.canAsk && lab.endedAt.value > 0);
  assert.deepEqual(names(lab), ['Hub']);
  await server.expect(201, 'POST', `${path}/open`);
  await until(() => lab.state.value === 'open', 'the opening');
  assert.equal(lab.endedAt.value, 0);
  const drafts = ['notes', `nodes/${hub.node_id}/files/a.cfg`].map((file) => `${lab.path}/${file}`);
  for (const draft of drafts) keepDraft(draft, '', 'typed');
  await server.expect(200, 'DELETE', `${path}/nodes/${hub.node_id}?keep=yes`);
  await until(() => lab.nodes.size === 0, 'the deletion of the node');
  keepDraft(drafts[0]!, '', '');
  assert.deepEqual([draftPaths(), isUnsaved()], [drafts.slice(1), false]);
  await server.expect(204, 'DELETE', path);
  await until(() => lab.state.value === 'deleted', 'the deletion');
  assert.ok(lab.isShown);
  assert.deepEqual(draftPaths(), []);
});
