// Packets in the page: eight captures at once, and what each says.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { decode } from '../../src/web/capture/decode/decode.ts';
import { until } from '../controller/lab-server.ts';
import { CORPUS } from '../web-units/corpus.ts';
import { accessibilityFaults } from './accessibility.ts';
import { startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { cells, pane, rows, star } from './capture-star.ts';
import { serveInside } from './served.ts';

test('eight captures run at once, and the page and the API go on answering', { skip: WITHOUT_BROWSER }, async (t) => {
  const { server, project, links, send } = await star(t, await serveInside(t), 8);
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `http://127.0.0.1:${server.port}/labs/${project.project_id}`);
  const list = page.getByRole('navigation');
  for (const [index] of links.entries()) {
    await list.getByRole('button', { name: new RegExp(`Middle .* – H${index + 1} `) }).click();
    const button = page.getByRole('button', { name: 'Start capture' });
    await button.click();
    await page.getByRole('button', { name: `Middle – H${index + 1}`, exact: true }).waitFor();
    await pane(page).getByText('0 frames').waitFor();
  }
  assert.equal(await page.evaluate(async () => (await fetch('/v2/version')).status), 200);
  const arp = CORPUS[0]!.bytes;
  await send([arp]);
  for (const [index] of links.entries()) {
    await page.getByRole('button', { name: `Middle – H${index + 1}`, exact: true }).click();
    await rows(page).first().waitFor();
    assert.deepEqual(
      (await cells(page)).map((row) => row.slice(2)),
      [['00:50:79:66:68:00', 'ff:ff:ff:ff:ff:ff', 'ARP', 'who has 10.0.0.2? Tell 10.0.0.1']],
    );
  }
  assert.deepEqual(await accessibilityFaults(page), []);
  // Stopped and started again: the open tab shows the new capture.
  await page.getByRole('button', { name: 'Stop capture' }).last().click();
  await pane(page).getByText('The capture has ended.').waitFor();
  await list.getByRole('button', { name: /Middle .* – H8 / }).click();
  await page.getByRole('button', { name: 'Start capture' }).click();
  await pane(page).getByText('0 frames').waitFor();
  await send([arp, arp]);
  await rows(page).nth(1).waitFor();
  assert.deepEqual(complaints, []);
});

test('list, filter, layers and bytes are right; the download is the file; the end is reported', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const { server, project, links, send } = await star(t, await serveInside(t), 1);
  const link = `/v2/projects/${project.project_id}/links/${links[0].link_id}`;
  const browser = await startBrowser(t);
  // Alone in its window, which begins the capture.
  const address = `http://127.0.0.1:${server.port}/labs/${project.project_id}/links/${links[0].link_id}/capture`;
  const { page, complaints } = await visit(browser, address, { isAsked: true });
  await page.setViewportSize({ width: 1400, height: 1600 });
  await pane(page).getByText('0 frames').waitFor();
  const samples = CORPUS.filter((sample) => sample.link === 1);
  await send(samples.map(({ bytes }) => bytes));
  await pane(page).getByText(`${samples.length} frames`).waitFor();
  const said = samples.map(({ bytes }, index) => {
    const { source, target, protocol, info } = decode(bytes, 1);
    return [String(index + 1), source, target, protocol, info];
  });
  const shown = async (): Promise<string[][]> => (await cells(page)).map(([number, , ...rest]) => [number!, ...rest]);
  await until(async () => (await shown()).length === said.length, 'all rows');
  assert.deepEqual(await shown(), said);

  const edge = page.getByRole('separator', { name: 'Width of Source' });
  const width = () => edge.getAttribute('aria-valuenow');
  const first = await width();
  await edge.press('End');
  await until(async () => (await width()) === '600', 'the widest column');
  await edge.dblclick();
  await until(async () => (await width()) === first, 'the width of the style sheet');

  const filter = page.getByLabel('Filter');
  // Names are completed by keys alone.
  const offers = page.getByRole('listbox', { name: 'Protocols and fields' }).getByRole('option');
  await filter.pressSequentially('icmp.ty');
  await until(async () => (await offers.allInnerTexts()).join() === 'icmp.type', 'the offered name');
  assert.deepEqual(await accessibilityFaults(page), []);
  await filter.press('ArrowDown');
  assert.equal(await filter.getAttribute('aria-activedescendant'), await offers.first().getAttribute('id'));
  await filter.press('Enter');
  assert.equal(await filter.inputValue(), 'icmp.type ');
  await until(async () => (await offers.allInnerTexts()).includes('contains'), 'the operators');
  await offers.first().click();
  await filter.pressSequentially('8');
  assert.equal(await filter.inputValue(), 'icmp.type == 8');
  assert.equal(await offers.count(), 0);
  await until(async () => {
    const list = await shown();
    return list.length > 0 && list.every(([, , , protocol]) => protocol === 'ICMP');
  }, 'the rows of the filter');
  await filter.press('Escape');
  assert.equal(await filter.inputValue(), '');

  await filter.fill('tcp.port == 179');
  const wanted = said.filter(([, , , protocol]) => protocol === 'BGP');
  assert.equal(wanted.length, 3);
  await until(async () => isDeepStrictEqual(await shown(), wanted), 'the rows of the filter');
  await pane(page).getByText('3 match the filter').waitFor();
  await filter.fill('tcp.port ==');
  await pane(page).getByText('A value behind "==" is missing at the end.').waitFor();
  assert.equal((await shown()).length, 3, 'a filter that is wrong leaves what is shown');
  assert.equal(await filter.inputValue(), 'tcp.port ==');

  await filter.fill('"echo request" and not vlan');
  await rows(page).filter({ hasText: 'ICMP' }).first().click();
  const layers = page.getByRole('region', { name: 'Layers' });
  await layers.getByText('Frame ').waitFor();
  await layers.getByText('ICMP', { exact: true }).waitFor();
  await layers.getByRole('button', { name: 'Sequence: 1' }).click();
  const bytes = page.getByRole('region', { name: 'Bytes' });
  assert.deepEqual(await bytes.locator('mark').allTextContents(), ['00 01', '..']);
  const dump = (await bytes.textContent())!;
  assert.match(dump, /^0000 {2}00 50 79 66 68 01 00 50 79 66 68 00 08 00 45 00/);

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download' }).click(),
  ]);
  const file = await readFile(join(project.path, 'project-files/captures', download.suggestedFilename()));
  assert.equal(file.length, 24 + samples.reduce((sum, { bytes: each }) => sum + 16 + each.length, 0));
  assert.deepEqual(await readFile((await download.path())!), file);

  await page.getByText('In Wireshark').click();
  await page.getByText(`curl -sN http://127.0.0.1:${server.port}${link}/pcap | wireshark -k -i -`).waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
  await page.getByRole('button', { name: 'Stop capture' }).click();
  await page.getByText('The capture has ended.').waitFor();
  await server.expect(201, 'POST', `${link}/start_capture`);
  await pane(page).getByText('0 frames').waitFor();
  await send([samples[0]!.bytes]);
  await pane(page).getByText('1 frame,').waitFor();
  assert.deepEqual(complaints, []);
});

test('a capture is asked for with its filter and its ring, and each of its files can be had', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const { server, project, links, send } = await star(t, await serveInside(t), 1);
  const link = `/v2/projects/${project.project_id}/links/${links[0].link_id}`;
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `http://127.0.0.1:${server.port}/labs/${project.project_id}`, {
    isAsked: true,
  });
  await page
    .getByRole('navigation', { name: 'Nodes and links' })
    .getByRole('button', { name: /^Middle .* – H1 / })
    .click();
  const start = page.getByRole('button', { name: 'Start this capture' });
  const filter = page.getByLabel('Capture filter');
  await filter.fill('arp orr icmp');
  await page.getByLabel('Format').selectOption('nsecpcap');
  await page.getByLabel('New file after').fill('12');
  await start.click();
  await page
    .getByText(/131,?072/)
    .first()
    .waitFor();
  await page.getByLabel('New file after').fill('131072');
  await page.getByLabel('Files to keep').fill('3');
  await start.click();
  // The server's words, at the field, and what was typed stays.
  await until(async () => (await filter.getAttribute('aria-invalid')) === 'true', 'the mark of the filter');
  assert.match((await page.locator('[data-field="filter"] .problem').textContent())!, /syntax error|orr/);
  assert.equal((await server.expect(200, 'GET', link)).capturing, false);
  assert.equal(await filter.inputValue(), 'arp orr icmp');
  assert.deepEqual(await accessibilityFaults(page), []);
  await filter.fill('ether[0] == 0');
  await start.click();
  await page.getByRole('button', { name: 'Middle – H1', exact: true }).waitFor();
  const frame = Buffer.alloc(1400);
  for (let round = 0; round < 4; round++) await send(Array.from({ length: 100 }, () => frame));
  await until(
    async () => (await server.expect(200, 'GET', `/v2/projects/${project.project_id}/captures`)).length > 2,
    'files of the ring',
  );
  await page.getByRole('button', { name: 'Download' }).click();
  const files = page.getByRole('list', { name: 'Files of this capture' }).getByRole('link');
  await files.first().waitFor();
  const names = await files.allTextContents();
  assert.deepEqual([names.length > 2, names.every((name) => /^Middle.*\.pcap$/.test(name))], [true, true]);
  const numbered = names.find((name) => /_\d{5}\.pcap$/.test(name))!;
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: numbered, exact: true }).click(),
  ]);
  const file = await readFile(join(project.path, 'project-files/captures', numbered));
  assert.deepEqual(await readFile((await download.path())!), file);
  assert.equal(file.readUInt32LE(0), 0xa1b23c4d, 'the mark of nanoseconds');
  assert.deepEqual(await accessibilityFaults(page), []);
  // The browser itself notes the filter that was refused.
  assert.deepEqual(
    complaints.filter((complaint) => !/status of 400/.test(complaint)),
    [],
  );
});
