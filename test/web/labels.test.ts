// How a label looks, chosen beside the map and shown on it; and the address of a console that is a web page.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../controller/lab-server.ts';
import { accessibilityFaults } from './accessibility.ts';
import { startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { serveInside } from './served.ts';

test('the look of a label is chosen, drawn and undone; a console that is a web page is a link', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const server = await serveInside(t);
  const project = await server.project('labels', { auto_close: false });
  const hub = await server.hub(project, 'Hub', { x: 0, y: 0 });
  const nodes = `/v2/projects/${project.project_id}/nodes`;
  const remote = { remote_console_type: 'https', remote_console_host: '192.0.2.9', remote_console_port: 8443 };
  const properties = { ports_mapping: [], ...remote, remote_console_http_path: 'login' };
  const body = { name: 'Firewall', node_type: 'cloud', compute_id: 'local', x: 200, y: 0, properties };
  await server.expect(201, 'POST', nodes, body);
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `http://127.0.0.1:${server.port}/labs/${project.project_id}`);
  const lists = page.getByRole('navigation', { name: 'Nodes and links' });
  await lists.getByRole('button', { name: /^Firewall / }).click();
  await page.getByRole('tab', { name: 'General' }).click();
  const link = page.getByRole('link', { name: 'https://192.0.2.9:8443/login' });
  assert.equal(await link.getAttribute('href'), 'https://192.0.2.9:8443/login');
  assert.deepEqual(
    [await link.getAttribute('target'), await link.getAttribute('rel')],
    ['_blank', 'noopener noreferrer'],
  );

  await lists.getByRole('button', { name: /^Hub / }).click();
  await page.getByRole('tab', { name: 'General' }).click();
  await page.getByText('Style of the label').click();
  const label = async (): Promise<{ style: string; rotation: number; text: string }> =>
    (await server.expect(200, 'GET', `${nodes}/${hub.node_id}`)).label;
  const before = await label();
  await page.getByLabel('Size (points)').fill('20');
  await page.getByLabel('Size (points)').press('Enter');
  await until(async () => (await label()).style?.includes('font-size: 20.0') === true, 'the size');
  await page.getByLabel('Colour').fill('#ff0000');
  await until(async () => (await label()).style.includes('fill: #ff0000'), 'the colour');
  const name = page.locator('.node[aria-label^="Hub,"] .name');
  await page.getByLabel('Italic').check();
  await until(async () => (await label()).style.includes('font-style: italic'), 'italic letters');
  await until(() => name.evaluate((element) => getComputedStyle(element).fontStyle === 'italic'), 'italic on the map');
  await page.getByLabel('Rotation (degrees)').fill('30');
  await page.getByLabel('Rotation (degrees)').press('Enter');
  await until(async () => (await label()).rotation === 30, 'the rotation');
  assert.equal((await label()).text, 'Hub');
  await until(
    async () => (await name.getAttribute('transform'))?.startsWith('rotate(30 ') === true,
    'the label on the map',
  );
  const look = await name.evaluate((element) => {
    const { fill, fontStyle } = getComputedStyle(element);
    return [fill, fontStyle];
  });
  assert.deepEqual(look, ['rgb(255, 0, 0)', 'italic']);
  assert.deepEqual(await accessibilityFaults(page), []);
  const undo = page.getByRole('button', { name: 'Undo' });
  for (let count = 0; count < 4; count++) await undo.click();
  await until(
    async () => (await label()).style === before.style && (await label()).rotation === before.rotation,
    'what was',
  );
  assert.deepEqual(complaints, []);
});
