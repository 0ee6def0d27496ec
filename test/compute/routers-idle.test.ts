// The search for the idle values of routers, with the real Dynamips.
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import { noDynamips, READY, type Routers, router, routers, Typist } from './router-support.ts';

const skip = noDynamips;

async function started(t: TestContext, made: Routers, platform: string, image: 'c3600' | 'c2600'): Promise<string> {
  const path = await router(made, platform, image);
  await made.lab.expect(204, 'POST', `${path}/start`);
  await new Typist(t, (await made.lab.expect(200, 'GET', path)).console).sees(READY);
  return path;
}

// They wait most of the time.
suite('idle values', { concurrency: 3 }, () => {
  test('a search finds the value at which a router rests, reports how far it is, and keeps it', { skip }, async (t) => {
    const made = await routers(t, ['c3600'], { console: [12_000, 12_099], udp: [14_000, 14_099] });
    const { lab } = made;
    const path = await started(t, made, 'c3600', 'c3600');
    const { idlepc } = await lab.expect(200, 'GET', `${path}/auto_idlepc`);
    // The loop of the test's image is at this address: see test/guest/router/mips.s.
    assert.match(idlepc, /^0x600080[0-9a-f]{2}$/);
    assert.equal((await lab.expect(200, 'GET', path)).idlepc, idlepc);
    const told = lab.messages.filter(({ action }) => action === 'log.info').map(({ event }) => JSON.stringify(event));
    assert.ok(
      told.some((line) => line.includes(`with the idle value ${idlepc} (1 of`)),
      told.join('\n'),
    );
    assert.equal((await lab.expect(200, 'PUT', path, { idlepc: '' })).idlepc, '0x0');
  });

  test('values are proposed for PowerPC, too, and none stays', { skip }, async (t) => {
    const made = await routers(t, ['c2600'], { console: [12_100, 12_199], udp: [14_100, 14_199] });
    const { lab } = made;
    const path = await started(t, made, 'c2600', 'c2600');
    const proposals = await lab.expect(200, 'GET', `${path}/idlepc_proposals`);
    assert.match(proposals[0], /^0x800080[0-9a-f]{2} \[\d+\]$/);
    assert.equal((await lab.expect(200, 'GET', path)).idlepc, '0x0');
  });

  test('a search that fails leaves the idle value as it was', { skip }, async (t) => {
    const made = await routers(t, ['c3600'], { console: [12_300, 12_399], udp: [14_300, 14_399] });
    const { lab } = made;
    const path = await router(made, 'c3600', 'c3600', { idlepc: '0x12345678' });
    const { image } = await lab.expect(200, 'GET', path);
    await rm(join(lab.config.Server.images_path, 'IOS', image));
    await lab.expect(409, 'GET', `${path}/auto_idlepc`);
    assert.equal((await lab.expect(200, 'GET', path)).idlepc, '0x12345678');
  });

  test('a search ends when its client goes, and when the router is stopped; then all is as before', {
    skip,
  }, async (t) => {
    const made = await routers(t, ['c3600'], { console: [12_200, 12_299], udp: [14_200, 14_299] });
    const { lab } = made;
    const path = await router(made, 'c3600', 'c3600', { idlepc: '0x12345678' });
    const begun = (): Promise<unknown> => lab.told('log.info', ({ message }) => /is given 20 s/.test(message));
    const gone = new AbortController();
    const search = lab.app.request(`/v2/compute${path}/auto_idlepc`, { signal: gone.signal });
    await begun();
    gone.abort();
    assert.equal((await search).status, 409);
    const { status, idlepc } = await lab.expect(200, 'GET', path);
    assert.deepEqual([status, idlepc], ['stopped', '0x12345678']);
    lab.events();
    const second = lab.request('GET', `${path}/idlepc_proposals`);
    await begun();
    await lab.expect(204, 'POST', `${path}/stop`);
    const { status: answered, body } = await second;
    assert.deepEqual([answered, body.exception], [409, 'DynamipsError']);
    assert.equal((await lab.expect(200, 'GET', path)).status, 'stopped');
  });
});
