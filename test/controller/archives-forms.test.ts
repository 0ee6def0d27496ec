// Archives as genuine clients send them: in a form, or among bytes of others; and archives that hold archives.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Body } from '../body.ts';
import { LINK, type ZipEntry, zip } from './archives-zip.ts';
import { LabServer } from './lab-server.ts';

function projectFile(name = 'travelling'): ZipEntry {
  const contents = { computes: [], drawings: [], links: [], nodes: [] };
  const project = { type: 'topology', revision: 9, version: '2.2.57', project_id: randomUUID(), name };
  return { name: 'project.gns3', data: JSON.stringify({ ...project, topology: contents }) };
}

async function imported(
  server: LabServer,
  body: Buffer,
  headers: Record<string, string> = {},
): Promise<{ status: number; json: Body }> {
  const options = { method: 'POST', body: new Uint8Array(body), headers };
  const response = await server.request(`/v2/projects/${randomUUID()}/import`, options);
  return { status: response.status, json: await response.json() };
}

/** A form as pages send it. */
function form(boundary: string, parts: readonly [headers: string, content: Buffer | string][]): Buffer {
  const pieces = parts.flatMap(([headers, content]) => [
    Buffer.from(`--${boundary}\r\n${headers}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
}

const FILE = 'Content-Disposition: form-data; name="file"; filename="Lab Ü.gns3project"';

test('an archive in a form is imported, whatever else the form holds', async (t) => {
  const server = await LabServer.start(t);
  const note = { name: 'note.txt', data: 'x'.repeat(300_000) };
  const archive = zip([projectFile(), note]);
  const field = (name: string): [string, string] => [`Content-Disposition: form-data; name="${name}"`, 'value'];
  const forms: [type: string, body: Buffer][] = [
    ['boundary=X', form('X', [[`${FILE}\r\nContent-Type: application/octet-stream`, archive]])],
    [
      'boundary="----WebKitFormBoundaryA1b2"',
      form('----WebKitFormBoundaryA1b2', [field('a'), [FILE, archive], field('b')]),
    ],
    [
      'charset=utf-8; boundary=X',
      form('X', [
        [`${FILE}\r\nContent-Type: application/zip`, archive],
        [FILE, 'another'],
      ]),
    ],
  ];
  for (const [type, body] of forms) {
    const { status, json } = await imported(server, body, { 'content-type': `multipart/form-data; ${type}` });
    assert.equal(status, 201, JSON.stringify(json));
    assert.equal((await stat(join(json.path, 'note.txt'))).size, 300_000);
    // Whoever does not say that it is a form is served as well.
    assert.equal((await imported(server, body)).status, 201);
  }
});

test('a form as browsers write it is imported, with any name of the file, and with bytes of others around the archive', async (t) => {
  const server = await LabServer.start(t);
  const note = { name: 'note.txt', data: 'x'.repeat(100_000), deflate: true };
  for (const [index, name] of [
    'Lab.gns3project',
    'Lab "Ü" 😀; a=b\\.gns3project',
    'a\r\nb%22.gns3project',
    '',
  ].entries()) {
    const junk = (length: number): Uint8Array<ArrayBuffer> => new Uint8Array(length).fill(index);
    const archive = zip([projectFile(`travelling ${index}`), note]);
    // Written by the rules of the HTML standard, as a page's form is.
    const data = new FormData();
    data.append('description "quoted"', 'Größe\r\n--boundary--\r\n');
    data.append('empty', '');
    data.append('file', new Blob([junk(index * 50_000), new Uint8Array(archive), junk(index * 20_000)]), name);
    data.append('after', 'x'.repeat(1_000_000));
    const url = `http://127.0.0.1:${server.port}/v2/projects/${randomUUID()}/import`;
    const response = await fetch(url, { method: 'POST', body: data });
    const json = (await response.json()) as Body;
    assert.equal(response.status, 201, `${name}: ${JSON.stringify(json)}`);
    assert.equal(json.name, `travelling ${index}`);
    assert.equal((await stat(join(json.path, 'note.txt'))).size, 100_000);
  }
});

test('a form without a file, one that ends too early and one of other bytes are refused with the reason', async (t) => {
  const server = await LabServer.start(t);
  const archive = zip([projectFile()]);
  const headers = { 'content-type': 'multipart/form-data; boundary=X' };
  const cases: [body: Buffer, reason: RegExp][] = [
    [form('X', [['Content-Disposition: form-data; name="file"', 'text']]), /no file/],
    [form('X', [[FILE, archive]]).subarray(0, -40), /form cannot be read|not a lab archive/],
    [form('X', [[FILE, archive]]).subarray(0, 60), /form cannot be read|no file/],
    [Buffer.from('nothing of a form'), /form cannot be read|no file/],
    [form('X', [[FILE, 'no archive']]), /not a lab archive/],
  ];
  for (const [body, reason] of cases) {
    const { status, json } = await imported(server, body, headers);
    assert.equal(status, 409, body.toString().slice(0, 100));
    assert.match(json.message, reason);
  }
  assert.deepEqual(await server.expect(200, 'GET', '/v2/projects'), []);
  assert.deepEqual(await readdir(join(server.state, 'projects')), []);
});

test('an archive is found behind and before bytes of others, as long as its end is within the last 64 KiB', async (t) => {
  const server = await LabServer.start(t);
  const archive = zip([projectFile(), { name: 'note.txt', data: 'x'.repeat(9_000), deflate: true }]);
  const junk = (length: number): Buffer => Buffer.alloc(length, 'PK\x05\x06 not an end ');
  for (const [before, after] of [
    [0, 0],
    [1, 0],
    [0, 1],
    [70_000, 65_000],
    [3_000_000, 21],
  ] as const) {
    const { status, json } = await imported(server, Buffer.concat([junk(before), archive, junk(after)]));
    assert.equal(status, 201, `${before}, ${after}: ${JSON.stringify(json)}`);
    assert.equal((await stat(join(json.path, 'note.txt'))).size, 9_000);
  }
  assert.equal((await imported(server, Buffer.concat([archive, Buffer.alloc(70_000)]))).status, 409);
  // Whoever makes two archives of one file gets the last.
  const two = await imported(server, Buffer.concat([zip([projectFile('first')]), zip([projectFile('second')])]));
  assert.equal(two.json.name, 'second');
});

test('a topology of a great many small objects is refused by the bound that it exceeds', async (t) => {
  const server = await LabServer.start(t);
  const { name, data } = projectFile();
  for (const [nodes, reason] of [
    [Array(400_000).fill('{}').join(','), /more than 200000 objects and lists/],
    [Array(2_000_000).fill('1').join(','), /more than 1000000 values/],
  ] as const) {
    const project = { name, data: String(data).replace('"nodes":[]', `"nodes":[${nodes}]`), deflate: true };
    const { status, json } = await imported(server, zip([project]));
    assert.equal(status, 409);
    assert.match(json.message, reason);
  }
  const body = `{"name": "lab", "variables": [${Array(30_000).fill('{}').join(',')}]}`;
  const response = await server.request('/v2/projects', { method: 'POST', body });
  assert.equal(response.status, 400);
  assert.match(((await response.json()) as Body).message, /more than 20000 objects and lists/);
  assert.deepEqual(await server.expect(200, 'GET', '/v2/projects'), []);
});

test('archives within an archive count with it, before anything of them is unpacked', async (t) => {
  const server = await LabServer.start(t);
  const gibibyte = 2 ** 30;
  const snapshot = (name: string, size: number): ZipEntry => {
    const inner = [projectFile(), { name: 'disk', data: Buffer.alloc(100), deflate: true, size }];
    return { name: `snapshots/${name}_010120_000000.gns3project`, data: zip(inner), deflate: true };
  };
  const { status, json } = await imported(
    server,
    zip([projectFile(), snapshot('a', 3 * gibibyte), snapshot('b', 3 * gibibyte)]),
  );
  assert.equal(status, 409);
  assert.match(json.message, /would unpack to 64\d{8} bytes/);
  assert.deepEqual(await readdir(join(server.state, 'projects')), []);
  // One that a snapshot lies about is left as it is, and told of; the lab comes all the same.
  assert.equal((await imported(server, zip([projectFile(), snapshot('a', gibibyte)]))).status, 201);
});

test('a snapshot in an archive takes as little space as it came with', async (t) => {
  const server = await LabServer.start(t);
  const inner = zip([projectFile(), { name: 'disk', data: Buffer.alloc(30_000_000), deflate: true }]);
  const { status, json } = await imported(
    server,
    zip([projectFile(), { name: 'snapshots/a_010120_000000.gns3project', data: inner }]),
  );
  assert.equal(status, 201, JSON.stringify(json));
  const { size } = await stat(join(json.path, 'snapshots/a_010120_000000.gns3project'));
  assert.ok(size < 300_000, `${size} bytes`);
});

test('a link through more folders than an archive can have is refused, alone or by a chain of links', async (t) => {
  const server = await LabServer.start(t);
  const link = (name: string, data: string): ZipEntry => ({ name, data, mode: LINK });
  const deep = Array.from({ length: 500 }, () => 'a').join('/');
  for (const links of [
    [link('L0', deep)],
    [link('L0', 'L1/a/a'), link('L1', `L2/${deep}`), link('L2', 'L3/a'), link('L3', 'a')],
    [link('L0', Array.from({ length: 700 }, () => 'a/..').join('/'))],
  ]) {
    const { status, json } = await imported(server, zip([projectFile(), ...links]));
    assert.equal(status, 409, JSON.stringify(json));
    assert.match(json.message, /"L\d": it is a link that leads out of the project/);
  }
  const { status } = await imported(server, zip([projectFile(), link('L0', 'a/../b')]));
  assert.equal(status, 201);
});

test('what is named as a snapshot and is no file does not keep an archive out', async (t) => {
  const server = await LabServer.start(t);
  const entries: ZipEntry[] = [
    { name: 'snapshots/a_010120_000000.gns3project/', mode: 0o040755 },
    { name: 'snapshots/b_010120_000000.gns3project', data: '../gone', mode: LINK },
  ];
  const { status, json } = await imported(server, zip([projectFile(), ...entries]));
  assert.equal(status, 201, JSON.stringify(json));
});
