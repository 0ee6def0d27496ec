// A plan is carried out on a server while others change the lab, or while the connection ends.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { Session } from '../../../src/client/frame/session.ts';
import { carryOut, type Outcome } from '../../../src/client/labfile/carry-out.ts';
import { removes } from '../../../src/client/labfile/changes.ts';
import { planLab } from '../../../src/client/labfile/plan.ts';
import { parseLab } from '../../../src/client/labfile/read.ts';
import { LabServer } from '../../controller/lab-server.ts';

interface Bench {
  server: LabServer;
  /** Passes requests on to the server. */
  passing: Server;
  /** Called before a request is passed on. */
  before: (method: string, path: string) => Promise<unknown> | undefined;
  /** Applies a lab file, deletions included. */
  apply(text: string): Promise<Outcome>;
}

async function bench(t: TestContext): Promise<Bench> {
  const server = await LabServer.start(t, { 'VPCS.engine': 'built-in' });
  const passing = createServer(async (asked, answer) => {
    await made.before(asked.method!, asked.url!);
    if (asked.destroyed) return;
    const { method, headers, url: path } = asked;
    const onward = request({ host: '127.0.0.1', port: server.port, method, headers, path }, (from) => {
      answer.writeHead(from.statusCode!, from.headers);
      from.pipe(answer);
    });
    onward.on('error', () => answer.destroy());
    asked.pipe(onward);
  });
  passing.listen(0, '127.0.0.1');
  await once(passing, 'listening');
  t.after(() => {
    if (passing.listening) passing.close();
    passing.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(passing.address() as AddressInfo).port}`;
  const environment = {
    server: url,
    lab: undefined,
    context: undefined,
    contexts: '/nowhere',
    variables: {},
    sockets: [],
  };
  const session = await Session.open({}, environment);
  const made: Bench = {
    server,
    passing,
    before: () => undefined,
    apply: async (text) => {
      const wanted = await parseLab(text, 'lab.yaml');
      const approved = (await planLab(session, wanted)).changes.filter(removes);
      return carryOut(session, wanted, { restart: true, approved, tell: () => {} });
    },
  };
  return made;
}

test('a change that another client has made first keeps no other from being made', async (t) => {
  const made = await bench(t);
  await made.apply('name: x\nnodes:\n  PC1: {type: vpcs}\n  OLD: {type: vpcs}\n');
  let removals = 0;
  made.before = (method, path) => {
    if (method !== 'DELETE' || removals++ > 0) return undefined;
    return made.server.expect(204, 'DELETE', path);
  };
  const outcome = await made.apply('name: x\nnodes:\n  PC1: {type: vpcs, z: 5, config: "ip 10.0.0.1/24"}\n');
  assert.deepEqual([removals, outcome.done, outcome.unchanged, outcome.plan.changes], [1, 2, [], []]);
});

test('a restart that the end of the connection breaks off names the nodes that are stopped', async (t) => {
  const made = await bench(t);
  await made.apply('name: x\nnodes:\n  PC{1..2}: {type: vpcs}\n');
  const [lab] = (await made.server.call('GET', '/v2/projects')).json as unknown as { project_id: string }[];
  await made.server.call('POST', `/v2/projects/${lab!.project_id}/nodes/start`);
  made.before = (method) => {
    if (method !== 'PUT') return undefined;
    made.passing.close();
    made.passing.closeAllConnections();
    return once(made.passing, 'close');
  };
  await assert.rejects(made.apply('name: x\nnodes:\n  PC{1..2}: {type: vpcs, console: {type: none}}\n'), {
    name: 'Failure',
    message: /cannot be reached: .*[^.]; these nodes are stopped: PC1, PC2$/,
  });
});

test('a node that another client deletes before its restart is created again, and one that cannot be stopped is not called stopped', async (t) => {
  const made = await bench(t);
  await made.apply('name: x\nnodes:\n  PC{1..2}: {type: vpcs}\n');
  const [lab] = (await made.server.call('GET', '/v2/projects')).json as unknown as { project_id: string }[];
  const nodes = `/v2/projects/${lab!.project_id}/nodes`;
  await made.server.call('POST', `${nodes}/start`);
  let stops = 0;
  let deleted = '';
  // PC1 before it is stopped, PC2 before it is started.
  made.before = (_method, path) => {
    const [node, action] = path.split(/\/(?=\w+$)/) as [string, string];
    if ((action !== 'stop' || stops++ > 0) && (action !== 'start' || deleted === 'all')) return undefined;
    deleted = action === 'stop' ? 'first' : 'all';
    return made.server.expect(204, 'DELETE', node);
  };
  const outcome = await made.apply('name: x\nnodes:\n  PC{1..2}: {type: vpcs, console: {type: none}}\n');
  const statuses = async () =>
    ((await made.server.call('GET', nodes)).json as unknown as { name: string; status: string }[])
      .map(({ name, status }) => `${name} ${status}`)
      .sort();
  assert.deepEqual([outcome.plan.changes, await statuses()], [[], ['PC1 stopped', 'PC2 stopped']]);

  await made.server.call('POST', `${nodes}/start`);
  stops = 0;
  made.before = (_method, path) => {
    if (!path.endsWith('/stop') || stops++ === 0) return undefined;
    made.passing.close();
    made.passing.closeAllConnections();
    return once(made.passing, 'close');
  };
  await assert.rejects(made.apply('name: x\nnodes:\n  PC{1..2}: {type: vpcs, console: {type: telnet}}\n'), {
    name: 'Failure',
    message: /; these nodes are stopped: PC\d$/,
  });
});
