// Links between computes: what each of them is told, in which order, and what is left when one of them refuses (interface, 8 and 15.7).
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { MOST_VNI } from '../../src/api/routes/compute-nodes.ts';
import { nextVni } from '../../src/controller/links/wiring.ts';
import { type Answering, refusing, StandIn } from './computes-stand-in.ts';
import { LabServer, until } from './lab-server.ts';

interface Interface {
  name?: string;
  ip_address: string;
  netmask: string;
}

const LOOPBACK: Interface = { ip_address: '127.0.0.1', netmask: '255.0.0.0' };

const PORTS = [0, 1, 2, 3].map((number) => ({ name: `Ethernet${number}`, port_number: number }));

/** Two computes, `a` and `b`, whose UDP ports begin at 20,000 and 30,000; what they hear is kept in one list. */
class Two {
  readonly server: LabServer;
  readonly a: StandIn;
  readonly b: StandIn;
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked at member by member
  project: any;

  private constructor(server: LabServer, a: StandIn, b: StandIn) {
    this.server = server;
    this.a = a;
    this.b = b;
  }

  static async start(t: TestContext, { hosts = ['127.0.0.1', '127.0.0.1'] } = {}): Promise<Two> {
    const server = await LabServer.start(t);
    const standIn = async (index: number, firstPort: number): Promise<StandIn> => {
      let port = firstPort;
      const udp: Answering = (request, response) => {
        request.resume();
        response.writeHead(201, { 'Content-Type': 'application/json' }).end(`{"udp_port":${port++}}`);
      };
      const answers: StandIn['answers'] = {
        'POST /projects/[^/]+/ports/udp': udp,
        'POST /projects.*hub/nodes': { status: 'started', ports_mapping: PORTS },
        'POST /projects.*nodes': { status: 'started', console: null },
        'POST /projects.*': {},
        'PUT /projects.*': {},
        'DELETE /projects.*': {},
      };
      const made = await StandIn.start(t, answers, hosts[index]);
      const id = 'ab'[index];
      await server.expect(201, 'POST', '/v2/computes', made.body({ compute_id: id, name: id }));
      return made;
    };
    const two = new Two(server, await standIn(0, 20_000), await standIn(1, 30_000));
    two.project = await server.project();
    return two;
  }

  get url(): string {
    return `/v2/projects/${this.project.project_id}`;
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above
  node(compute: string, type = 'vpcs'): Promise<any> {
    const body = { name: `N-${compute}`, node_type: type, compute_id: compute };
    return this.server.expect(201, 'POST', `${this.url}/nodes`, body);
  }

  /** A call's body as the compute heard it. */
  told(standIn: StandIn, call: RegExp): object {
    const heard = standIn.heard.find((entry) => call.test(entry.call));
    assert.ok(heard, `${call} among ${standIn.calls}`);
    return JSON.parse(heard.body);
  }

  forget(): void {
    this.a.heard.length = 0;
    this.b.heard.length = 0;
  }
}

const short = ({ calls }: StandIn): string[] =>
  calls.map((call) => call.replace(/\/projects\/.*\/(?=nio|udp|\w+_capture)/, '… '));

test('a link is wired over the network that both computes are in, the filtering end with the filters', async (t) => {
  const it = await Two.start(t);
  it.a.answers['GET /network/interfaces'] = [
    LOOPBACK,
    { ip_address: '', netmask: '' },
    { ip_address: '169.254.7.1', netmask: '255.255.0.0' },
    { ip_address: '192.168.1.5', netmask: '255.255.255.0' },
    { ip_address: '10.1.0.5', netmask: '255.255.0.0' },
  ];
  it.b.answers['GET /network/interfaces'] = [
    { ip_address: '169.254.7.2', netmask: '255.255.0.0' },
    { ip_address: '10.1.9.9', netmask: '255.0.0.0' },
    LOOPBACK,
  ];
  const [hub, pc, other] = [await it.node('a', 'ethernet_hub'), await it.node('b'), await it.node('b')];
  it.forget();
  const filters = { delay: [10, 2], from_the_future: [1] };
  await it.server.link(it.project, [hub, 0], [pc, 0], { filters, suspend: false });
  assert.deepEqual(short(it.a), ['GET /network/interfaces', 'POST … udp', 'POST … nio']);
  assert.deepEqual(short(it.b), ['GET /network/interfaces', 'POST … udp', 'POST … nio']);
  const common = { type: 'nio_udp', suspend: false };
  assert.deepEqual(it.told(it.a, /nio$/), { ...common, lport: 20_000, rhost: '10.1.9.9', rport: 30_000, filters: {} });
  const known = { delay: [10, 2] };
  assert.deepEqual(it.told(it.b, /nio$/), {
    ...common,
    lport: 30_000,
    rhost: '10.1.0.5',
    rport: 20_000,
    filters: known,
  });

  // Interfaces are asked for once a connection.
  it.forget();
  await it.server.link(it.project, [hub, 1], [other, 0]);
  assert.deepEqual(short(it.a), ['POST … udp', 'POST … nio']);
});

test('computes that are known by addresses of their own reach each other there; on one compute it is its own', async (t) => {
  const it = await Two.start(t, { hosts: ['127.0.0.2', '127.0.0.3'] });
  const [one, other, third] = [await it.node('a'), await it.node('b'), await it.node('a')];
  const hub = await it.node('a', 'ethernet_hub');
  it.forget();
  await it.server.link(it.project, [one, 0], [other, 0]);
  assert.equal((it.told(it.a, /nio$/) as { rhost: string }).rhost, '127.0.0.3');
  assert.equal((it.told(it.b, /nio$/) as { rhost: string }).rhost, '127.0.0.2');
  it.forget();
  await it.server.link(it.project, [third, 0], [hub, 0]);
  assert.equal((it.told(it.a, /nio$/) as { rhost: string }).rhost, '127.0.0.2');
  assert.ok(!it.a.calls.includes('GET /network/interfaces'));
});

test('without a common network there is no link, and no compute was asked for anything', async (t) => {
  const it = await Two.start(t);
  it.a.answers['GET /network/interfaces'] = [LOOPBACK, { ip_address: '192.168.1.5', netmask: '255.255.255.0' }];
  it.b.answers['GET /network/interfaces'] = [LOOPBACK, { ip_address: '192.168.2.5', netmask: '255.255.255.0' }, {}];
  const nodes = [await it.node('a'), await it.node('b')].map(({ node_id }) => ({
    ...{ node_id, adapter_number: 0, port_number: 0 },
  }));
  it.forget();
  assert.match((await it.server.expect(409, 'POST', `${it.url}/links`, { nodes })).message, /no network in common/);
  assert.deepEqual([...it.a.calls, ...it.b.calls], ['GET /network/interfaces', 'GET /network/interfaces']);
  it.b.answers['GET /network/interfaces'] = { not: 'a list' };
  await it.b.close();
  await it.server.expect(409, 'POST', `${it.url}/links`, { nodes });
  assert.deepEqual(await it.server.expect(200, 'GET', `${it.url}/links`), []);
});

test('what a compute does not let be wired is taken away at the other one', async (t) => {
  const it = await Two.start(t, { hosts: ['127.0.0.2', '127.0.0.3'] });
  const [one, other] = [await it.node('a'), await it.node('b')];
  const events = await it.server.record(`${it.url}/notifications/ws`);
  const nodes = [one, other].map(({ node_id }) => ({ node_id, adapter_number: 0, port_number: 0 }));
  const attempt = async (status: number, answers: StandIn['answers']): Promise<string[]> => {
    const before = { ...it.b.answers };
    for (const key of Object.keys(it.b.answers)) delete it.b.answers[key];
    Object.assign(it.b.answers, answers, before);
    it.forget();
    await it.server.expect(status, 'POST', `${it.url}/links`, { nodes });
    for (const key of Object.keys(answers)) if (!(key in before)) delete it.b.answers[key];
    assert.match(short(it.a).at(-1) ?? '', short(it.a).includes('POST … nio') ? /DELETE … nio/ : /DELETE … udp\/\d+/);
    return short(it.b);
  };
  assert.deepEqual(await attempt(403, { 'POST .*/nio': refusing(403) }), [
    'POST … udp',
    'POST … nio',
    'DELETE … udp/30000',
  ]);
  // No answer: it may be there.
  const broken: Answering = (request) => void request.socket.destroy();
  assert.deepEqual(await attempt(409, { 'POST .*/nio': broken }), ['POST … udp', 'POST … nio', 'DELETE … nio']);
  it.b.answers['POST /projects/[^/]+/ports/udp'] = {};
  assert.deepEqual(await attempt(409, {}), ['POST … udp']);
  assert.deepEqual(await it.server.expect(200, 'GET', `${it.url}/links`), []);
  await until(() => events.length === 3, 'the events');
  assert.deepEqual(new Set(events.map(({ action }) => action)), new Set(['link.deleted']));
});

test('changes go to the ends that take them; one that is refused is as if it was never asked for', async (t) => {
  const it = await Two.start(t, { hosts: ['127.0.0.2', '127.0.0.3'] });
  const [pc, other] = [await it.node('a'), await it.node('b')];
  const { link_id: id } = await it.server.link(it.project, [pc, 0], [other, 0]);
  const url = `${it.url}/links/${id}`;
  it.forget();
  await it.server.expect(201, 'PUT', url, { suspend: true });
  const suspended = { suspend: true, filters: { frequency_drop: [-1] } };
  assert.deepEqual(it.told(it.a, /^PUT/), {
    type: 'nio_udp',
    lport: 20_000,
    rhost: '127.0.0.3',
    rport: 30_000,
    ...suspended,
  });
  assert.deepEqual(it.told(it.b, /^PUT/), {
    ...{ type: 'nio_udp', lport: 30_000, rhost: '127.0.0.2', rport: 20_000, suspend: true, filters: {} },
  });
  it.forget();
  await it.server.expect(201, 'PUT', url, { suspend: true, filters: {}, link_style: { color: 'red' } });
  assert.deepEqual([...it.a.calls, ...it.b.calls], []);

  it.b.answers['PUT /projects.*'] = refusing(409);
  const stored = await it.server.expect(200, 'GET', url);
  await it.server.expect(409, 'PUT', url, { filters: {}, suspend: false });
  assert.deepEqual(await it.server.expect(200, 'GET', url), stored);
  // The end that had taken it was told again how it was.
  const last = JSON.parse(it.a.heard.at(-1)!.body);
  assert.deepEqual([last.suspend, last.filters], [true, { frequency_drop: [-1] }]);
  // A kind of node without a way to change its NIO is no obstacle.
  it.b.answers['PUT /projects.*'] = refusing(405);
  await it.server.expect(201, 'PUT', url, { suspend: false });

  const { message } = await it.server.expect(400, 'PUT', url, { filters: { delay: [1, 2, 3] } });
  assert.match(message, /filters\.delay: takes Latency and Jitter/);
});

test('a compute that moves to another address takes its links along', async (t) => {
  const it = await Two.start(t, { hosts: ['127.0.0.2', '127.0.0.3'] });
  const [one, other, third] = [await it.node('a'), await it.node('b'), await it.node('b')];
  await it.server.link(it.project, [one, 0], [other, 0]);
  const hub = await it.node('b', 'ethernet_hub');
  await it.server.link(it.project, [third, 0], [hub, 0]);
  const moved = await StandIn.start(t, it.b.answers, '127.0.0.4');
  moved.answers['GET /projects'] = [{ project_id: it.project.project_id }];
  moved.answers['GET /projects/.*'] = { status: 'started' };
  it.forget();
  await it.server.expect(200, 'PUT', '/v2/computes/b', { host: '127.0.0.4', port: moved.port });
  await until(() => moved.calls.some((call) => call.endsWith('/nio') && call.startsWith('POST')), 'the new wire');
  await until(() => short(it.a).length === 3, 'its other end');
  assert.deepEqual(short(it.a), ['DELETE … nio', 'POST … udp', 'POST … nio']);
  assert.equal((it.told(it.a, /^POST.*nio$/) as { rhost: string }).rhost, '127.0.0.4');
  // The link that does not leave the compute is as it was.
  assert.equal(moved.calls.filter((call) => call.startsWith('DELETE')).length, 1);
});

test('a link that cannot be taken away at one end can be tried again', async (t) => {
  const it = await Two.start(t, { hosts: ['127.0.0.2', '127.0.0.3'] });
  const [one, other] = [await it.node('a'), await it.node('b')];
  const { link_id: id } = await it.server.link(it.project, [one, 0], [other, 0]);
  it.b.answers['DELETE /projects.*'] = refusing(503);
  it.forget();
  // Asked twice, as an answer may be lost.
  await it.server.expect(503, 'DELETE', `${it.url}/links/${id}`);
  await it.server.expect(200, 'GET', `${it.url}/links/${id}`);
  it.b.answers['DELETE /projects.*'] = refusing(404);
  await it.server.expect(204, 'DELETE', `${it.url}/links/${id}`);
  // Until then the end that could be taken away is there again.
  const atOne = ['DELETE … nio', 'POST … nio', 'DELETE … nio'];
  assert.deepEqual([short(it.a), short(it.b)], [atOne, Array(3).fill('DELETE … nio')]);
});

test('a compute that answers no counters is reported, and the counters of other links still come', async (t) => {
  const it = await Two.start(t);
  const links: string[] = [];
  for (const compute of ['a', 'b']) {
    const link = await it.server.link(it.project, [await it.node(compute), 0], [await it.node(compute), 0]);
    links.push(link.link_id);
  }
  const figures = { outgoing: { frames: 1 }, incoming: { frames: 2 } };
  it.b.answers['GET .*/statistics'] = figures;
  it.a.answers['GET .*/(statistics|schedule)'] = (request, response) => {
    request.resume();
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('null');
  };
  for (const path of ['statistics', 'schedule']) {
    const { message } = await it.server.expect(409, 'GET', `${it.url}/links/${links[0]}/${path}`);
    assert.match(message, /The compute answered .* not an object/);
  }
  const heard: unknown[] = await it.server.record(`${it.url}/links/statistics/ws?interval=200`);
  await until(() => heard.length > 0, 'counters');
  const { outgoing: forward, incoming: backward } = figures;
  assert.deepEqual(heard, [{ links: [{ link_id: links[1], forward, backward, capture: null }] }]);
});

test('a capture is taken at a device that always runs, streamed as it grows, and ends with its node', async (t) => {
  const it = await Two.start(t, { hosts: ['127.0.0.2', '127.0.0.3'] });
  let more: ((text: string) => void) | undefined;
  it.b.answers['GET /projects.*pcap'] = (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/vnd.tcpdump.pcap' }).write('head ');
    more = (text) => (text === '' ? response.end() : response.write(text));
  };
  const [pc, hub] = [await it.node('a'), await it.node('b', 'ethernet_hub')];
  const { link_id: id } = await it.server.link(it.project, [pc, 0], [hub, 3]);
  const url = `${it.url}/links/${id}`;
  assert.match((await it.server.expect(409, 'GET', `${url}/pcap`)).message, /not captured/);
  const captured = await it.server.expect(201, 'POST', `${url}/start_capture`, { capture_file_name: 'c.pcap' });
  assert.equal(captured.capture_compute_id, 'b');
  assert.deepEqual(it.told(it.b, /start_capture/), { capture_file_name: 'c.pcap', data_link_type: 'DLT_EN10MB' });
  const stream = await fetch(`http://127.0.0.1:${it.server.port}${url}/pcap`);
  assert.equal(stream.headers.get('content-type'), 'application/vnd.tcpdump.pcap');
  const parts = stream.body!.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
  assert.equal((await parts.next()).value, 'head ');
  more?.('frame');
  assert.equal((await parts.next()).value, 'frame');
  more?.('');
  assert.ok((await parts.next()).done);
  // Its file is with the compute that writes it.
  it.b.answers['GET /projects.*pcap'] = (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/vnd.tcpdump.pcap', 'Content-Length': '5' }).end('bytes');
  };
  const file = await fetch(`http://127.0.0.1:${it.server.port}${it.url}/captures/c.pcap`);
  assert.deepEqual([file.status, file.headers.get('content-length'), await file.text()], [200, '5', 'bytes']);
  it.b.answers['GET /projects.*pcap'] = refusing(404);
  await it.server.expect(404, 'GET', `${it.url}/captures/c.pcap`);

  const event = { project_id: it.project.project_id, node_id: hub.node_id, status: 'stopped' };
  await it.b.notify({ action: 'node.updated', event, project_id: it.project.project_id });
  await until(async () => !(await it.server.expect(200, 'GET', url)).capturing, 'the end of the capture');
  await until(() => short(it.b).includes('POST … stop_capture'), 'the compute to hear of it');
});

test('what is beyond the release about a capture goes to computes that know it only', async (t) => {
  const it = await Two.start(t, { hosts: ['127.0.0.2', '127.0.0.3'] });
  const [pc, hub] = [await it.node('a'), await it.node('b', 'ethernet_hub')];
  const { link_id: id } = await it.server.link(it.project, [pc, 0], [hub, 3]);
  const url = `${it.url}/links/${id}/start_capture`;
  for (const standIn of [it.a, it.b])
    standIn.answers['GET /projects.*statistics'] = refusing(404, { message: 'Not Found' });
  const extended = {
    capture_file_name: 'c.pcapng',
    format: 'pcapng',
    snap_length: 96,
    ring_size: 200_000,
    filter: 'arp',
  };
  const { message } = await it.server.expect(409, 'POST', url, extended);
  assert.match(message, /format, snap_length, ring_size, filter: the compute b and a captures/);
  assert.ok(![...it.a.calls, ...it.b.calls].some((call) => call.includes('start_capture')));
  for (const [member, value] of Object.entries({
    format: 'cap',
    snap_length: 0,
    ring_size: 1,
    ring_files: 1,
    filter: '',
  }))
    assert.match((await it.server.expect(400, 'POST', url, { [member]: value })).message, new RegExp(member));

  it.a.answers['GET /projects.*statistics'] = {};
  assert.equal((await it.server.expect(201, 'POST', url, extended)).capture_compute_id, 'a');
  assert.deepEqual(it.told(it.a, /start_capture/), {
    ...extended,
    data_link_type: 'DLT_EN10MB',
    interface_description: 'N-a Ethernet0 to N-b Ethernet3',
  });
  const again = await it.server.expect(409, 'POST', url, { capture_file_name: 'other.pcap' });
  assert.match(again.message, /already captured to c\.pcapng: stop/);
  assert.ok(!it.b.calls.some((call) => call.includes('start_capture')), 'the free end captures nothing');
  it.a.answers['GET /projects.*pcap'] = (_request, response) =>
    void response.writeHead(200, { 'Content-Type': 'application/x-pcapng' }).end('pcapng');
  const stream = await fetch(`http://127.0.0.1:${it.server.port}${it.url}/links/${id}/pcap`);
  assert.deepEqual([stream.headers.get('content-type'), await stream.text()], ['application/x-pcapng', 'pcapng']);
});

test('a capture whose compute vanishes breaks off, and does not look complete', async (t) => {
  const it = await Two.start(t, { hosts: ['127.0.0.2', '127.0.0.3'] });
  it.b.answers['GET /projects.*pcap'] = (_request, response) => void response.writeHead(200).write('head');
  const [pc, hub] = [await it.node('a'), await it.node('b', 'ethernet_hub')];
  const { link_id: id } = await it.server.link(it.project, [pc, 0], [hub, 3]);
  await it.server.expect(201, 'POST', `${it.url}/links/${id}/start_capture`);
  const stream = await fetch(`http://127.0.0.1:${it.server.port}${it.url}/links/${id}/pcap`);
  const parts = stream.body!.getReader();
  await parts.read();
  await it.b.close();
  await assert.rejects(parts.read(), /terminated/);
});

test('no two links get the same VXLAN network identifier', () => {
  const given = new Set(Array.from({ length: 100_000 }, nextVni));
  assert.equal(given.size, 100_000);
  assert.deepEqual(
    [...given].filter((vni) => vni < 1 || vni > MOST_VNI),
    [],
  );
});
