// Large answers of JSON are compressed for those who ask for it, and the same for all others.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { App } from '../../src/http/app/app.ts';
import { acceptsGzip } from '../../src/http/app/compression.ts';
import { entityTag, namesTag } from '../../src/http/app/entity-tags.ts';
import { JsonText, route } from '../../src/http/app/route.ts';

const list = Array.from({ length: 1000 }, (_, index) => ({ name: `PC${index}`, x: index }));
const tag = entityTag('a');
const app = new App([
  route('GET /v2/large', {}, () => list),
  route('GET /v2/small', {}, () => list.slice(0, 3)),
  route('GET /v2/tagged', {}, () => new JsonText(JSON.stringify(list), { ETag: tag })),
  route('GET /v3/large', {}, () => new JsonText(JSON.stringify({ ...list, name: 'Zürich, 東京, 🧪' }))),
  route('GET /v2/stream', {}, () => {
    const headers = { 'Content-Type': 'application/json' };
    return new Response(new ReadableStream({ start: (stream) => stream.enqueue(Buffer.alloc(20_000, ' ')) }), {
      headers,
    });
  }),
]);
const ask = (path: string, encoding?: string) =>
  app.request(path, { headers: encoding === undefined ? {} : { 'accept-encoding': encoding } });

test('a large list is gzipped for who takes it: a fraction of the bytes, and the same content', async () => {
  const plain = await ask('/v2/large');
  const text = await plain.text();
  const packed = await ask('/v2/large', 'gzip, deflate, br');
  const bytes = Buffer.from(await packed.arrayBuffer());
  assert.equal(packed.headers.get('content-encoding'), 'gzip');
  assert.equal(Number(packed.headers.get('content-length')), bytes.length);
  assert.equal(packed.headers.get('content-type'), 'application/json');
  assert.equal(gunzipSync(bytes).toString(), text);
  assert.ok(bytes.length < text.length / 5, `${bytes.length} of ${text.length}`);
  for (const answer of [plain, packed]) assert.equal(answer.headers.get('vary'), 'Accept-Encoding');
  assert.equal(plain.headers.get('content-encoding'), null);
});

test('what is not ASCII, as /v3 answers it, is the same when it is gzipped', async () => {
  const plain = await (await ask('/v3/large')).text();
  const packed = await ask('/v3/large', 'gzip');
  assert.equal(packed.headers.get('content-encoding'), 'gzip');
  assert.equal(gunzipSync(Buffer.from(await packed.arrayBuffer())).toString(), plain);
  assert.match(plain, /Zürich, 東京, 🧪/);
});

test('small answers, streams, and those of clients that do not ask stay as they are', async () => {
  assert.equal((await ask('/v2/small', 'gzip')).headers.get('content-encoding'), null);
  assert.equal((await ask('/v2/large', 'gzip;q=0, identity')).headers.get('content-encoding'), null);
  const stream = await ask('/v2/stream', 'gzip');
  assert.equal(stream.headers.get('content-encoding'), null);
  await stream.body?.cancel();
  for (const [header, takes] of [
    [null, false],
    ['', false],
    ['identity', false],
    ['GZIP', true],
    ['br;q=1, gzip;q=0.5', true],
    ['*', true],
    ['*;q=0', false],
    ['gzip;q=0.000, *', false],
    ['gzipped', false],
  ] as const) {
    assert.equal(acceptsGzip(header), takes, String(header));
  }
});

test('a tag is weak where the bytes differ, and known again in both forms', async () => {
  assert.equal((await ask('/v2/tagged')).headers.get('etag'), tag);
  const weak = (await ask('/v2/tagged', 'gzip')).headers.get('etag')!;
  assert.equal(weak, `W/${tag}`);
  assert.ok(namesTag(weak, tag) && namesTag(`"x", ${tag}`, tag) && namesTag('*', tag));
  assert.ok(!namesTag('"x"', tag) && !namesTag(null, tag));
});
