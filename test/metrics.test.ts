// What the server tells of itself: figures that Prometheus can read, a log line and a number for each request.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { configureLog } from '../src/host/log.ts';
import { Counters, exposition, Histogram } from '../src/host/metrics.ts';
import { App } from '../src/http/app/app.ts';
import { Observation } from '../src/http/app/request-log.ts';
import { route } from '../src/http/app/route.ts';
import { LabServer } from './controller/lab-server.ts';

test('figures are written in the text format, whatever stands in labels and help', async () => {
  const counters = new Counters();
  counters.add({ name: 'a "quoted" \\ and\nbroken' });
  counters.add({ name: 'b' }, 2);
  counters.add({ name: 'b' });
  const histogram = new Histogram([0.1, 1]);
  for (const value of [0.05, 0.1, 0.5, 7]) histogram.observe(value);
  const text = await exposition([
    { name: 'things_total', type: 'counter', help: 'Things.\nMore.', samples: () => counters.samples() },
    { name: 'time_seconds', type: 'histogram', help: 'Time.', samples: () => histogram.samples() },
  ]);
  assert.equal(
    text,
    `# HELP things_total Things.\\nMore.
# TYPE things_total counter
things_total{name="a \\"quoted\\" \\\\ and\\nbroken"} 1
things_total{name="b"} 3
# HELP time_seconds Time.
# TYPE time_seconds histogram
time_seconds_bucket{le="0.1"} 2
time_seconds_bucket{le="1"} 3
time_seconds_bucket{le="+Inf"} 4
time_seconds_sum 7.65
time_seconds_count 4
`,
  );
});

test('the figures of a lab are at /metrics: requests, events, listeners, nodes by type and status, links', async (t) => {
  const { server, path } = await LabServer.withLab(t, { auto_close: false });
  const hub = (name: string) =>
    server.expect(201, 'POST', `${path}/nodes`, { name, node_type: 'ethernet_hub', compute_id: 'local' });
  const [one, two] = [await hub('Hub1'), await hub('Hub2')];
  const end = ({ node_id }: { node_id: string }) => ({ node_id, adapter_number: 0, port_number: 0 });
  await server.expect(201, 'POST', `${path}/links`, { nodes: [end(one), end(two)] });
  const listener = (await server.stream(`${path}/notifications`)).body!.getReader();
  await listener.read();
  const text = await (await server.stream('/metrics')).text();
  for (const expected of [
    'labwire_projects{state="opened"} 1',
    'labwire_nodes{type="ethernet_hub",status="started"} 2',
    'labwire_links 1',
    'labwire_listeners{bus="project"} 1',
    'labwire_http_requests_total{method="POST",route="/v2/projects/{project_id}/nodes",status="201"} 2',
  ]) {
    assert.ok(text.includes(`${expected}\n`), `${expected} in\n${text}`);
  }
  assert.match(text, /^labwire_computes\{connected="true"\} 1$/m);
  assert.match(text, /^process_resident_memory_bytes [1-9]\d+$/m);
  const document = await readFile(join(import.meta.dirname, '../docs/metrics.md'), 'utf8');
  const told = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => `| \`${name}\` | ${type} |`);
  const listed = [...document.matchAll(/^\| `\w+` \| \w+ \|/gm)].map(([row]) => row);
  assert.deepEqual(listed.sort(), told.sort(), 'docs/metrics.md lists all of them, and no other');
  await listener.cancel();
});

test('each request has a number, in its answer, in the log, and in the message of an unexpected error', async (t) => {
  const lines: string[] = [];
  configureLog({ write: (line) => void lines.push(line) });
  t.after(() => configureLog({ write: () => {} }));
  const routes = [
    route('GET /v2/things/{id}', {}, ({ params }) => {
      if (params.id === 'bad') throw new Error('inner detail');
      return { id: params.id };
    }),
  ];
  const app = new App(routes, { middleware: [new Observation().middleware] });
  const good = await app.request('/v2/things/1?secret=not-for-the-log');
  const bad = await app.request('/v2/things/bad');
  const numbers = [good, bad].map(({ headers }) => headers.get('x-request-id')!);
  assert.notEqual(numbers[0], numbers[1]);
  assert.ok((await bad.text()).includes(`of request ${numbers[1]}`));
  assert.match(lines[0]!, new RegExp(`request method=GET path=/v2/things/1 status=200 .*request=${numbers[0]}`));
  assert.ok(lines.some((line) => line.includes('inner detail') && line.includes(numbers[1]!)));
  assert.ok(!lines.join('').includes('not-for-the-log'));
});
