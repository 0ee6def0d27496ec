// The captures of several links in one list, and a stream of TCP that is followed from it.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { FrameReader } from '../../src/web/capture/frames.ts';
import { LabServer, until } from '../controller/lab-server.ts';
import { CORPUS } from '../web-units/corpus.ts';
import { SYN, segment } from '../web-units/tcp-stream.ts';
import { accessibilityFaults } from './accessibility.ts';
import { startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { cells, pane, rows, star } from './capture-star.ts';

const TIME = 1;
const LINK = 2;

async function openAll(page: Page): Promise<void> {
  await page.locator('[data-node]').first().waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search or command' }).fill('all captures');
  await page.getByRole('option', { name: /^Show all captures in one list/ }).click();
}

test('eight captures are one list by time, with their links; another joins; a stream is followed', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const { server, project, links, send } = await star(t, await LabServer.start(t), 8);
  const lab = `/v2/projects/${project.project_id}`;
  for (const { link_id: id } of links.slice(0, 7)) await server.expect(201, 'POST', `${lab}/links/${id}/start_capture`);
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `http://127.0.0.1:${server.port}/labs/${project.project_id}`, {
    credentials: null,
  });
  await page.setViewportSize({ width: 1500, height: 1600 });
  await openAll(page);
  const figures = pane(page).locator('.capture-figures');
  await figures.getByText('7 links').waitFor();
  await page.getByRole('button', { name: 'Full' }).click();
  const request = 'GET /\r\n';
  const conversation = [
    segment({ side: 0, at: 0, flags: SYN }),
    segment({ side: 1, at: 0, flags: SYN, acknowledged: 1 }),
    segment({ side: 0, at: 1, data: request, acknowledged: 1 }),
    segment({ side: 0, at: 1, data: request, acknowledged: 1 }),
    segment({ side: 1, at: 1, data: '<b>hel', acknowledged: 1 + request.length }),
    segment({ side: 1, at: 12, data: 'end', acknowledged: 1 + request.length }),
    segment({ side: 0, at: 1 + request.length, acknowledged: 15 }),
  ];
  await send([CORPUS[0]!.bytes, ...conversation]);
  await until(async () => (await cells(page)).length === 7 * 8, 'the frames of seven links');
  // The eighth joins.
  await server.expect(201, 'POST', `${lab}/links/${links[7].link_id}/start_capture`);
  await figures.getByText('8 links').waitFor();
  await send([CORPUS[0]!.bytes]);
  await figures.getByText(`${7 * 8 + 8} frames`).waitFor();
  await until(async () => (await cells(page)).length === 7 * 8 + 8, 'the frames of all');
  const shown = await cells(page);
  const times = shown.map((row) => Number(row[TIME]));
  assert.deepEqual(
    times,
    times.toSorted((one, other) => one - other),
  );
  const names = new Set(shown.map((row) => row[LINK]));
  assert.deepEqual(
    [...names].toSorted(),
    Array.from({ length: 8 }, (_, index) => `Middle – H${index + 1}`),
  );
  assert.deepEqual(await accessibilityFaults(page), []);

  // All of it as a file, and as a line for Wireshark with an input for each link.
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download' }).click(),
  ]);
  assert.equal(file.suggestedFilename(), 'star.pcapng');
  const content = await readFile((await file.path())!);
  assert.ok(content.includes('Middle Ethernet2 to H3 Ethernet0'), 'Wireshark shows the names of the links');
  const saved = new FrameReader().push(content);
  assert.equal(saved.length, 7 * 8 + 8);
  const moments = saved.map(({ time }) => time);
  assert.deepEqual(
    moments,
    moments.toSorted((one, other) => one - other),
  );
  await page.getByText('In Wireshark').click();
  const line = (await pane(page).locator('.capture-line code').textContent())!;
  assert.match(line, /^wireshark -k( -i <\(curl -sN http:\/\/[^ ]+\/pcap\)){8}$/);

  await pane(page).getByRole('combobox', { name: 'Link' }).selectOption('Middle – H3');
  await until(async () => (await cells(page)).length === 9, 'the frames of one');
  assert.ok((await cells(page)).every((row) => row[LINK] === 'Middle – H3'));
  assert.equal(await page.getByLabel('Filter').inputValue(), 'link == "Middle – H3"');

  // The same segments on other links are no retransmissions.
  await rows(page).filter({ hasText: 'SYN' }).first().click();
  await page.getByRole('button', { name: 'Follow TCP stream' }).click();
  const stream = page.getByRole('region', { name: 'TCP stream' });
  await stream.getByText('10.0.0.1:40000 → 10.0.0.2:80: 7 bytes, open, 1 retransmission', { exact: true }).waitFor();
  await stream
    .getByText('10.0.0.2:80 → 10.0.0.1:40000: 9 bytes, open, 1 segment out of order, 5 bytes missing')
    .waitFor();
  assert.equal(await stream.locator('pre').textContent(), 'GET /\n<b>hel[5 bytes are missing in the capture]end');
  await stream.getByLabel('Show as').selectOption('Hex');
  assert.match(
    (await stream.locator('pre').textContent())!,
    /^00000000 {2}47 45 54 20 2f 0d 0a +GET \/\.\.\n00000000 {2}3c 62/,
  );
  await stream.getByLabel('Direction').selectOption('10.0.0.2:80 → 10.0.0.1:40000');
  assert.match((await stream.locator('pre').textContent())!, /\n?0000000b {2}65 6e 64 +end\n$/);
  assert.deepEqual(await accessibilityFaults(page), []);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    stream.getByRole('button', { name: 'Save' }).click(),
  ]);
  assert.equal(await readFile((await download.path())!, 'latin1'), '<b>helend');
  await stream.getByRole('button', { name: 'Only its packets' }).click();
  await until(async () => (await cells(page)).length === 7 * 7, 'the packets of the stream');

  // The same in a window of its own, at an address of its own.
  await page.locator('.opens-menu').click();
  const [opened] = await Promise.all([
    page.context().waitForEvent('page'),
    page.getByRole('menuitem', { name: 'Own window' }).click(),
  ]);
  await opened.waitForURL(`${page.url()}/captures`);
  const { page: alone, complaints: others } = await visit(browser, opened.url(), { credentials: null });
  await opened.close();
  await alone.getByRole('heading', { name: 'star All captures' }).waitFor();
  await alone
    .locator('.capture-figures')
    .getByText(`8 links, ${7 * 8 + 8} frames`)
    .waitFor();
  await alone.getByRole('link', { name: 'star' }).waitFor();
  assert.deepEqual(others, []);

  // One capture ends: its packets stay.
  await server.expect(201, 'POST', `${lab}/links/${links[2].link_id}/stop_capture`);
  await figures.getByText('8 links, 7 of them captured now').waitFor();
  assert.equal((await cells(page)).length, 7 * 7);

  // A link that another host captures: whose clock is right nobody knows, and the list says so.
  const note = page.getByText(/^These links are captured on 2 hosts: packets stand in the order of the hosts’ clocks/);
  assert.equal(await note.count(), 0);
  const far = await LabServer.start(t, { udp_start_port_range: String(20_000 + ((process.pid + 20) % 40) * 200) });
  const address = { protocol: 'http', host: '127.0.0.1', port: far.port };
  await server.expect(201, 'POST', '/v2/computes', { compute_id: 'far', name: 'far', ...address });
  const [one, other] = [
    await server.hub(project, 'Far1', { compute_id: 'far', x: 300 }),
    await server.hub(project, 'Far2', { compute_id: 'far', x: 400 }),
  ];
  const { link_id: away } = await server.link(project, [one, 0], [other, 0]);
  await server.expect(201, 'POST', `${lab}/links/${away}/start_capture`);
  await note.waitFor();
  assert.deepEqual(complaints, []);
});

test('a flood through eight captures in one list leaves the page alive, and the last of it is shown', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const { server, project, links, send } = await star(t, await LabServer.start(t), 8);
  const lab = `/v2/projects/${project.project_id}`;
  for (const { link_id: id } of links) await server.expect(201, 'POST', `${lab}/links/${id}/start_capture`);
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `http://127.0.0.1:${server.port}/labs/${project.project_id}`, {
    credentials: null,
  });
  await openAll(page);
  await page.getByRole('button', { name: 'Full' }).click();
  const figures = pane(page).locator('.capture-figures');
  await figures.getByText('8 links').waitFor();
  const frame = Buffer.concat([CORPUS[0]!.bytes, Buffer.alloc(400)]);
  const flood = Array.from({ length: 500 }, () => frame);
  const recorded = async (): Promise<number> => {
    let frames = 0;
    for (const { link_id: id } of links) {
      const { ends } = await server.expect(200, 'GET', `${lab}/links/${id}/statistics`);
      for (const { statistics } of ends) frames += statistics?.capture?.frames ?? 0;
    }
    return frames;
  };
  // More than the page keeps, however much of it is dropped on the way.
  while ((await recorded()) * frame.length < 36 << 20) await send(flood);
  assert.equal(await page.evaluate(async () => (await fetch('/v2/version')).status), 200);
  await figures.getByText(/showing the last [\d,]+ of [\d,]+/).waitFor({ timeout: 60_000 });
  const filter = page.getByLabel('Filter');
  await filter.fill('tcp');
  await until(
    async () => {
      // One that comes while there is still no room in a file is dropped.
      await send([segment({ side: 0, at: 1, data: 'the last one' })]);
      return new Set((await cells(page)).map((row) => row[LINK])).size === 8;
    },
    'the last frame of each link',
    60_000,
  );
  // The file has what the page has given up, too.
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download' }).click(),
  ]);
  const frames = new FrameReader().push(await readFile((await file.path())!));
  assert.equal(frames.length, await recorded());
  assert.deepEqual(complaints, []);
});
