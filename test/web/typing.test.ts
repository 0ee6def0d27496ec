// What somebody types among the details of a thing, while others change the lab.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LabServer, until } from '../controller/lab-server.ts';
import { startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';

test('what is typed in a field stays when another user changes something, until it is sent or given up', {
  skip: WITHOUT_BROWSER,
}, async (t) => {
  const { server, project } = await LabServer.withLab(t, { name: 'typed', auto_close: false });
  const hub = await server.hub(project, 'A', { x: -130, y: 0 });
  const lab = `/v2/projects/${project.project_id}`;
  const svg = '<svg height="30" width="90"><text fill="#000000" font-size="12">one</text></svg>';
  const drawing = await server.expect(201, 'POST', `${lab}/drawings`, { svg, x: 10, y: 20, z: 2 });
  const drawn = `${lab}/drawings/${drawing.drawing_id}`;
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `http://127.0.0.1:${server.port}/labs/${project.project_id}`, {
    credentials: null,
  });
  const lists = page.getByRole('navigation', { name: 'Nodes and links' });
  const details = page.getByRole('complementary', { name: 'Details' });

  let names = 0;
  /** Somebody changes another thing and this one, and the page shows it. */
  const interrupt = async (): Promise<void> => {
    names += 1;
    await server.expect(200, 'PUT', `${lab}/nodes/${hub.node_id}`, { name: `A${names}` });
    await server.expect(201, 'PUT', drawn, { y: 20 + names });
    await lists.getByRole('button', { name: `A${names} on` }).waitFor();
    await page.waitForFunction(
      ([id, y]) => document.querySelector(`[data-drawing="${id}"]`)?.getAttribute('transform')?.includes(` ${y})`),
      [drawing.drawing_id, 20 + names] as const,
    );
  };

  await lists.getByRole('button', { name: 'one' }).click();
  for (const [label, typed, shown] of [
    ['From the left', '170', async () => String((await server.expect(200, 'GET', drawn)).x)],
    ['Size (points)', '21', async () => /font-size="([^"]*)"/.exec((await server.expect(200, 'GET', drawn)).svg)?.[1]],
    ['Font', 'Arial', async () => /font-family="([^"]*)"/.exec((await server.expect(200, 'GET', drawn)).svg)?.[1]],
    ['Text', 'two', async () => /<text[^>]*>([^<]*)</.exec((await server.expect(200, 'GET', drawn)).svg)?.[1]],
  ] as const) {
    const field = details.getByLabel(label, { exact: true });
    const before = await field.inputValue();
    if (label !== 'Text') {
      await field.fill('');
      await field.pressSequentially('1');
      await interrupt();
      assert.equal(await field.inputValue(), '1', label);
      await page.keyboard.press('Escape');
      assert.equal(await field.inputValue(), before, `${label} after Escape`);
      assert.equal(await details.isVisible(), true);
    }
    await field.fill('');
    await field.pressSequentially(typed.slice(0, 1));
    await interrupt();
    await field.pressSequentially(typed.slice(1));
    await interrupt();
    assert.equal(await field.inputValue(), typed, label);
    await field.press('Tab');
    await until(async () => (await shown()) === typed, `${label} at the server`);
    await until(async () => (await field.inputValue()) === typed, `${label} in the field`);
  }
  // Afterwards the field follows the server again.
  await server.expect(201, 'PUT', drawn, { x: 33 });
  await until(
    async () => (await details.getByLabel('From the left', { exact: true }).inputValue()) === '33',
    'what somebody else set',
  );
  assert.deepEqual(complaints, []);
});
