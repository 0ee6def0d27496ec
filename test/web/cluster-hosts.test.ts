// The hosts of a cluster in the page: lease, role, what runs there; a host is drained, and forgotten.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { begun, connected, noCluster, run } from '../system/cluster-hosts.ts';
import { eventually } from '../system/daemon.ts';
import { executable } from '../system/executable.ts';
import { Lab } from '../system/lab.ts';
import { TwoHosts } from '../system/two-daemons-network.ts';
import { accessibilityFaults } from './accessibility.ts';
import { confirmIn, startBrowser, visit, WITHOUT_BROWSER } from './browser.ts';

/** Where pictures of the screen are left, for people who look at them. */
const PICTURES = process.env['LABWIRE_PICTURES'];

test('hosts of a cluster show their lease, role and nodes; one is drained, and forgotten', {
  skip: WITHOUT_BROWSER || noCluster(),
}, async (t) => {
  const hosts = TwoHosts.make(t);
  const { inside } = hosts.compute;
  const { a, b, line } = await begun(t, hosts, inside, { settings: '[Cluster]\ncheckpoint_seconds = 1\n' });
  run(...inside, ...executable(), 'cluster', 'join', line, '--host-name', 'b', '--state', b.state);
  await b.start();
  const { compute_id } = await connected(a);
  const lab = await Lab.create(a, 'Shown');
  const [one] = [await lab.pc('One', { compute_id }), await lab.pc('Two', { compute_id }), await lab.pc('Here')];
  await lab.start(one);
  const browser = await startBrowser(t);
  const { page, complaints } = await visit(browser, `${a.url}/hosts`);
  const host = page.getByRole('region', { name: 'b', exact: true });
  const row = (name: string) => host.getByText(name, { exact: true }).locator('xpath=following-sibling::dd[1]');
  const shows = (name: string, wanted: RegExp): Promise<unknown> =>
    eventually(
      name,
      () => row(name).innerText(),
      (text) => wanted.test(text),
    );
  await shows('Role', /^runs nodes$/);
  await shows('Lease', /^renewed \d s ago$/);
  await shows('Nodes', /^1 of 2 in open labs run$/);
  await shows('Copy of files', /\d/);
  await shows('Links to other hosts', /^direct \(UDP\)$/);
  await page.getByText('controller, runs NATS', { exact: true }).waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
  if (PICTURES) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const width of [1440, 390]) {
        await page.setViewportSize({ width, height: 900 });
        await page.screenshot({ path: `${PICTURES}/hosts-${colorScheme}-${width}.png`, fullPage: true });
      }
    }
    await page.setViewportSize({ width: 1440, height: 900 });
  }
  const card = page.getByRole('listitem').filter({ has: host });
  assert.equal(await card.getByRole('button', { name: 'Edit' }).count(), 0, 'the cluster sets its address');
  await card.getByRole('button', { name: 'Drain' }).click();
  await confirmIn(page, 'Drain');
  await page.getByText(/^These nodes stay there: One: .*stop it/).waitFor();
  await shows('Nodes', /^1 of 1 in open labs run$/);
  await card.getByRole('button', { name: 'End draining' }).click();
  await card.getByRole('button', { name: 'Drain' }).waitFor();
  await card.getByRole('button', { name: 'Forget' }).click();
  await confirmIn(page, 'Forget');
  await host.waitFor({ state: 'detached' });
  assert.deepEqual(((await a.get('/v2/computes')) as { name: string }[]).map(({ name }) => name).includes('b'), false);
  const { hosts: left } = (await a.get('/v2/cluster')) as { hosts: { name: string }[] };
  assert.deepEqual(
    left.map(({ name }) => name),
    ['a'],
  );
  assert.deepEqual(complaints, []);
});
