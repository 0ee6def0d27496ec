// A capture of more frames than the page can take.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Body } from '../body.ts';
import { until } from '../controller/lab-server.ts';
import { CORPUS } from '../web-units/corpus.ts';
import { PATIENCE_MS, startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { cells, pane, star } from './capture-star.ts';
import { serveInside } from './served.ts';

test('a flood leaves the page alive, and what was dropped is reported', { skip: WITHOUT_BROWSER }, async (t) => {
  const { server, project, links, send } = await star(t, await serveInside(t), 1);
  const link = `/v2/projects/${project.project_id}/links/${links[0].link_id}`;
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(
    browser,
    `http://127.0.0.1:${server.port}/labs/${project.project_id}/links/${links[0].link_id}/capture`,
  );
  await pane(page).getByText('0 frames').waitFor();
  const frame = Buffer.concat([CORPUS[0]!.bytes, Buffer.alloc(1300)]);
  const flood = Array.from({ length: 1000 }, () => frame);
  const counted = async (): Promise<Body> => {
    const { ends } = await server.expect(200, 'GET', `${link}/statistics`);
    return ends.map(({ statistics }: Body) => statistics.capture).find(Boolean);
  };
  const figures = pane(page).locator('.capture-figures');
  const follow = page.getByRole('button', { name: 'Follow' });
  // More than the page keeps, however much of it is dropped on the way.
  let capture = await counted();
  while (capture.bytes < 40 << 20) {
    await send(flood);
    capture = await counted();
  }
  // The list follows to the end. Frames may still be on their way to the file: what is shown is compared with what there is then.
  let seen: unknown;
  await until(
    async () => {
      capture = await counted();
      const [said, shown] = [await figures.textContent(), await cells(page)];
      seen = { capture, said, last: shown.at(-1), follows: await follow.getAttribute('aria-pressed'), complaints };
      const wanted = [`${capture.frames.toLocaleString('en')} frames`];
      if (capture.drops > 0) wanted.push(`${capture.drops.toLocaleString('en')} dropped`);
      return wanted.every((text) => said!.includes(text)) && shown.at(-1)?.[0] === String(capture.frames);
    },
    'the figures of the server, and the last row',
    PATIENCE_MS,
  ).catch((error: Error) => assert.fail(`${error.message}: ${JSON.stringify(seen)}`));
  assert.match((await figures.textContent())!, /showing the last [\d,]+ of [\d,]+/);
  // It goes back by hand.
  await page.getByRole('region', { name: 'Packets', exact: true }).hover();
  await page.mouse.wheel(0, -5000);
  await until(async () => Number((await cells(page)).at(-1)?.[0]) < capture.frames - 100, 'earlier rows');
  assert.equal(await follow.getAttribute('aria-pressed'), 'false');
  await page.getByLabel('Filter').fill('frame');
  await pane(page).getByText('0 match the filter').waitFor();
  assert.deepEqual(complaints, []);
});
