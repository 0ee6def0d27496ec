// The notes of a lab on its screen.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { accessibilityFaultsInAll } from './accessibility.ts';
import { startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';
import { serveInside } from './served.ts';

const TEXT = `# Ping
The PCs reach each other.
**Both** of them, with \`ip 10.0.0.1/24\`:

1. [x] Start
2. [ ] Ping & <b>look</b>

| PC | Address |
|---|---|
| PC1 | 10.0.0.1 |

[More](https://example.com/more) [not](javascript:alert(1))
![map](https://example.com/map.png)
<script>document.title = 'run'</script><img src="x" onerror="alert(1)">
`;

const notes = (page: Page) => page.getByRole('region', { name: 'Notes' });

test('notes are written, shown as Markdown without running or loading anything, and seen by others at once', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const server = await serveInside(t);
  const project = await server.project('Lab', { auto_close: false });
  await server.hub(project, 'Hub');
  const address = `http://127.0.0.1:${server.port}/labs/${project.project_id}`;
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, address);
  const { page: other } = await visit(browser, address);
  await other.getByRole('button', { name: 'Write notes' }).waitFor();
  await page.getByRole('button', { name: 'Write notes' }).press('Enter');
  await page.getByLabel('Content of Notes').fill(TEXT);
  assert.deepEqual(await accessibilityFaultsInAll(page), []);
  await page.getByLabel('Content of Notes').press('Control+s');
  await page.getByText('Saved.', { exact: true }).waitFor();
  assert.equal(await readFile(join(project.path, 'README.txt'), 'utf8'), TEXT);
  await page.getByRole('button', { name: 'Back to the notes' }).click();

  for (const one of [page, other]) {
    await notes(one).getByRole('heading', { name: 'Ping' }).waitFor();
    assert.deepEqual(await notes(one).getByRole('listitem').allInnerTexts(), ['Start', 'Ping & <b>look</b>']);
    assert.equal(await notes(one).getByRole('checkbox').first().isChecked(), true);
    await notes(one).getByRole('cell', { name: '10.0.0.1' }).waitFor();
    const links = await notes(one)
      .locator('a')
      .evaluateAll((all) => all.map((link) => [link.getAttribute('href'), link.getAttribute('rel')]));
    assert.deepEqual(links, [
      ['https://example.com/more', 'noopener noreferrer'],
      ['https://example.com/map.png', 'noopener noreferrer'],
    ]);
    await notes(one).getByText("<script>document.title = 'run'</script>").waitFor();
    assert.equal(await notes(one).locator('img, script, b').count(), 0);
    assert.equal(await one.title(), 'Lab - Labwire');
  }
  assert.deepEqual(await accessibilityFaultsInAll(page), []);

  const lab = `/v2/projects/${project.project_id}`;
  const { snapshot_id: snapshot } = await server.expect(201, 'POST', `${lab}/snapshots`, { name: 'Ping' });
  await page.getByRole('button', { name: 'Edit notes' }).click();
  await page.getByLabel('Content of Notes').fill('Mine');
  // Unsaved text stays while something else is selected, and leaving the page asks.
  await page.locator('.lists').getByRole('button', { name: 'Hub' }).click();
  await page.getByLabel('Content of Notes').waitFor({ state: 'detached' });
  await page.getByRole('main', { name: 'Topology' }).press('Escape');
  assert.equal(await page.getByLabel('Content of Notes').inputValue(), 'Mine');
  const [question] = await Promise.all([page.waitForEvent('dialog'), page.close({ runBeforeUnload: true })]);
  assert.equal(question.type(), 'beforeunload');
  await question.dismiss();

  // Another user writes while the text is edited here.
  await server.expect(204, 'PUT', `${lab}/notes`, { text: 'Theirs' });
  await page.getByRole('button', { name: 'Load theirs' }).waitFor();
  assert.equal(await page.getByLabel('Content of Notes').inputValue(), 'Mine');
  await page.getByRole('button', { name: 'Overwrite with mine' }).click();
  await notes(other).getByText('Mine').waitFor();
  await server.expect(201, 'POST', `${lab}/snapshots/${snapshot}/restore`);
  await notes(other).getByRole('heading', { name: 'Ping' }).waitFor();
  assert.deepEqual(complaints, []);
});
