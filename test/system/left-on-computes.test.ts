// A controller that is killed, or cut off, while another host's compute makes or removes something for it: afterwards the compute has what
// the lab has, and nothing else.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Daemon, eventually, startDaemon } from './daemon.ts';
import { FROM_SOURCE } from './executable.ts';

/** The cable between two daemons: hands on what they say, and can hold it. WebSockets pass in any case. */
class Between {
  /** What is held from now on. */
  holds: 'requests' | 'answers' | undefined;
  /** What was held of requests, or came before held answers. */
  asked = '';
  port = 0;
  readonly #target: number;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((client) => this.#join(client));

  constructor(target: number) {
    this.#target = target;
  }

  async listen(): Promise<void> {
    this.#server.listen(this.port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.port = (this.#server.address() as AddressInfo).port;
  }

  #join(client: Socket): void {
    const server = connect(this.#target, '127.0.0.1');
    let isWebSocket = false;
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
    client.on('data', (bytes) => {
      const text = bytes.toString('latin1');
      isWebSocket ||= /^upgrade: websocket/im.test(text);
      if (this.holds && !isWebSocket) this.asked += text;
      if (this.holds !== 'requests' || isWebSocket) server.write(bytes);
    });
    server.on('data', (bytes) => {
      if (this.holds !== 'answers' || isWebSocket) client.write(bytes);
    });
  }

  /** Cuts all connections, and takes no other ones. */
  async cut(): Promise<void> {
    this.holds = undefined;
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** Cuts all connections; new ones pass. */
  async renew(): Promise<void> {
    await this.cut();
    this.asked = '';
    await this.listen();
  }
}

interface Pair {
  controller: Daemon;
  compute: Daemon;
  between: Between;
  url: string;
  id: string;
  /** Asks for a PC on the compute, whose id is given at once. */
  make: () => { id: string; made: Promise<unknown> };
  /** Status of what the compute answers of a node. */
  there: (node: string) => Promise<number>;
  openThere: () => Promise<boolean>;
}

async function pair(t: TestContext): Promise<Pair> {
  const program = FROM_SOURCE;
  const compute = await startDaemon(t, { program });
  const between = new Between(compute.port);
  t.after(() => between.cut());
  await between.listen();
  const controller = await startDaemon(t, { program });
  const body = { compute_id: 'it', protocol: 'http', host: '127.0.0.1', port: between.port };
  await controller.post('/v2/computes', body);
  const { project_id: id } = await controller.post('/v2/projects', { name: 'lab', auto_close: false });
  const url = `/v2/projects/${id}`;
  return {
    controller,
    compute,
    between,
    url,
    id,
    make: () => {
      const node = randomUUID();
      const wanted = { node_id: node, name: 'PC', node_type: 'vpcs', compute_id: 'it' };
      return { id: node, made: controller.post(`${url}/nodes`, wanted) };
    },
    there: async (node) => (await compute.ask('GET', `/v2/compute/projects/${id}/vpcs/nodes/${node}`)).status,
    openThere: async () => {
      const projects: { project_id: string }[] = await compute.get('/v2/compute/projects');
      return projects.some(({ project_id: one }) => one === id);
    },
  };
}

async function nodesOf({ controller, url }: Pair): Promise<string[]> {
  const nodes: { node_id: string }[] = await controller.get(`${url}/nodes`);
  return nodes.map(({ node_id: node }) => node);
}

/** Kills the controller, makes the way free, and starts it again. */
async function killed({ controller, between }: Pair): Promise<void> {
  await controller.kill();
  await between.renew();
  await controller.start();
}

test('a node that was being created on another compute does not exist after a kill', async (t) => {
  const both = await pair(t);
  const { between, make, there } = both;
  const kept = make();
  await kept.made;
  between.holds = 'answers';
  const node = make();
  node.made.catch(() => {});
  await eventually(
    'the compute to have made it',
    () => there(node.id),
    (status) => status === 200,
  );
  await killed(both);
  await eventually(
    'the node to be gone',
    () => there(node.id),
    (status) => status === 404,
  );
  assert.deepEqual(await nodesOf(both), [kept.id]);
  assert.equal(await there(kept.id), 200);
});

test('nor is the project, where that was its only node there', async (t) => {
  const both = await pair(t);
  const { between, make, there, openThere } = both;
  between.holds = 'answers';
  const node = make();
  node.made.catch(() => {});
  await eventually('the project to be known', openThere);
  await killed(both);
  await eventually('the project to be closed there', async () => !(await openThere()));
  assert.equal(await there(node.id), 404);
  assert.deepEqual(await nodesOf(both), []);
});

test('a node that was being removed on another compute is gone after a kill', async (t) => {
  const both = await pair(t);
  const { controller, between, make, there, url } = both;
  const [kept, node] = [make(), make()];
  await Promise.all([kept.made, node.made]);
  between.holds = 'requests';
  controller.delete(`${url}/nodes/${node.id}`).catch(() => {});
  await eventually('the compute to be asked', () => between.asked.includes(`DELETE `));
  await killed(both);
  await eventually(
    'the node to be gone',
    () => there(node.id),
    (status) => status === 404,
  );
  assert.deepEqual(await nodesOf(both), [kept.id]);
  assert.equal(await there(kept.id), 200);
});

test('a lab that was being opened is closed after a kill, here and there', async (t) => {
  const both = await pair(t);
  const { controller, between, make, there, openThere, url } = both;
  const node = make();
  await node.made;
  await controller.post(`${url}/close`);
  assert.equal(await openThere(), false);
  between.holds = 'answers';
  controller.post(`${url}/open`).catch(() => {});
  await eventually('the project to be open there', openThere);
  await killed(both);
  await eventually('the project to be closed there', async () => !(await openThere()));
  assert.equal((await controller.get(url)).status, 'closed');
  await controller.post(`${url}/open`);
  assert.equal(await there(node.id), 200);
});

test('a lab that was being imported leaves no folder there after a kill', async (t) => {
  const both = await pair(t);
  const { controller, compute, between, make, url } = both;
  await make().made;
  const { headers } = controller;
  const archive = await (await fetch(`${controller.url}${url}/export?keep_compute_ids=yes`, { headers })).bytes();
  between.holds = 'answers';
  const id = randomUUID();
  controller.ask('POST', `/v2/projects/${id}/import?name=imported`, { body: archive }).catch(() => {});
  const folder = join(compute.state, 'projects', id);
  await eventually('the folder', () => existsSync(folder));
  await killed(both);
  await eventually('no folder', () => !existsSync(folder));
  const projects: { name: string }[] = await controller.get('/v2/projects');
  assert.deepEqual(
    projects.map(({ name }) => name),
    ['lab'],
  );
});

test('a node whose making failed because the compute was cut off goes when it is there again', async (t) => {
  const both = await pair(t);
  const { between, make, there } = both;
  const kept = make();
  await kept.made;
  between.holds = 'answers';
  const node = make();
  const failed = assert.rejects(node.made);
  await eventually(
    'the compute to have made it',
    () => there(node.id),
    (status) => status === 200,
  );
  await between.cut();
  await failed;
  await between.listen();
  await eventually(
    'the node to be gone',
    () => there(node.id),
    (status) => status === 404,
    60_000,
  );
  assert.deepEqual(await nodesOf(both), [kept.id]);
  assert.equal(await there(kept.id), 200);
});
