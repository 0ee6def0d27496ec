// Two people in one lab: how long until the one sees what the other does, beside an empty page that listens to the same events.
import type { Browser, Page } from 'playwright-core';
import type { Daemon } from '../system/daemon.ts';
import { median, quantile, table } from './measure.ts';
import { emptyPage } from './page-empty.ts';

const ROUNDS = 20;

/** Something that one does, and how the other's picture shows that it is done. */
interface Change {
  method: 'PUT' | 'POST';
  path: string;
  body: object;
  /** A word of the event that tells of it. */
  told: string;
  selector: string;
  /** What is read of its element: an attribute, or `text`; without it, that it is there. */
  shows?: { name: string; value: string };
}

interface Step {
  change(round: number): Change;
  before?(): Promise<void>;
}

/** Answers when the picture shows the change. Asked for before it is made. */
function seen(page: Page, { selector, shows }: Change): Promise<number> {
  return page.evaluate(
    ([wanted, expected]) =>
      new Promise<number>((resolve) => {
        const look = (): void => {
          const element = document.querySelector(wanted);
          if (!element) return;
          const has = expected?.name === 'text' ? element.textContent : element.getAttribute(expected?.name ?? '');
          if (expected && has !== expected.value) return;
          observer.disconnect();
          requestAnimationFrame(() => resolve(performance.timeOrigin + performance.now()));
        };
        const observer = new MutationObserver(look);
        observer.observe(document, { attributes: true, characterData: true, childList: true, subtree: true });
        look();
      }),
    [selector, shows] as const,
  );
}

/** Answers when the empty page is told of it. */
function heard(page: Page, { told }: Change): Promise<number> {
  return page.evaluate(
    (word) =>
      new Promise<number>((resolve) => {
        const { socket } = globalThis as unknown as { socket: WebSocket };
        socket.onmessage = ({ data }) => {
          if (!String(data).includes(word)) return;
          socket.onmessage = null;
          resolve(performance.timeOrigin + performance.now());
        };
      }),
    told,
  );
}

/** Makes the change; answers when it was asked for. */
function change(page: Page, { method, path, body }: Change): Promise<number> {
  return page.evaluate(
    async ([how, where, what]) => {
      const asked = performance.timeOrigin + performance.now();
      const headers = { 'Content-Type': 'application/json' };
      const { status, statusText } = await fetch(where, { method: how, headers, body: what });
      if (status >= 300) throw new Error(`${how} ${where}: ${status} ${statusText}`);
      return asked;
    },
    [method, path, JSON.stringify(body)] as const,
  );
}

/** What is printed of it. */
export async function twoBrowsers(browser: Browser, daemon: Daemon): Promise<string> {
  const { project_id: id } = await daemon.post('/v2/projects', { name: 'Together', auto_close: false });
  const path = `/v2/projects/${id}`;
  const node = async (name: string, node_type: string, x: number): Promise<string> =>
    (await daemon.post(`${path}/nodes`, { name, node_type, compute_id: 'local', x, y: 0 })).node_id;
  const pc = await node('PC1', 'vpcs', -150);
  const [hub, other] = [await node('Hub1', 'ethernet_hub', 150), await node('Hub2', 'ethernet_hub', 300)];
  const end = (node_id: string, port_number = 0): object => ({ node_id, adapter_number: 0, port_number });
  const { link_id: link } = await daemon.post(`${path}/links`, { nodes: [end(pc), end(hub)] });
  const open = async (): Promise<Page> => {
    const page = await (await browser.newContext()).newPage();
    await page.goto(`${daemon.url}/labs/${id}`);
    await page.locator(`[data-link="${link}"]`).waitFor({ state: 'attached' });
    await page.locator('.live[data-connection="live"]').waitFor();
    return page;
  };
  const [ada, bob] = [await open(), await open()];
  const empty = await emptyPage(browser, daemon);
  await empty.evaluate(
    (where) =>
      new Promise((resolve) => {
        const socket = new WebSocket(`${location.origin.replace('http', 'ws')}${where}`);
        Object.assign(globalThis, { socket });
        socket.onopen = () => resolve(undefined);
      }),
    `${path}/notifications/ws`,
  );
  const [pcPath, picture, links] = [`${path}/nodes/${pc}`, `[data-node="${pc}"]`, `${path}/links`];
  const made = `[data-link]:not([data-link="${link}"])`;
  const steps: Record<string, Step> = {
    'a node is moved': {
      change: (round) => ({
        ...{ method: 'PUT', path: pcPath, body: { x: round, y: 50 }, told: pc },
        ...{ selector: picture, shows: { name: 'data-place', value: `${round} 50` } },
      }),
    },
    'a node is started': {
      before: async () => {
        await daemon.post(`${pcPath}/stop`, {});
        await bob.locator(`${picture}[data-status="stopped"]`).waitFor({ state: 'attached' });
      },
      change: () => ({
        ...{ method: 'POST', path: `${pcPath}/start`, body: {}, told: '"started"' },
        ...{ selector: picture, shows: { name: 'data-status', value: 'started' } },
      }),
    },
    'a link is made': {
      before: async () => {
        for (const { link_id: old } of await daemon.get(links)) {
          if (old !== link) await daemon.delete(`${links}/${old}`);
        }
        await bob.locator(made).waitFor({ state: 'detached' });
      },
      change: () => ({
        ...{ method: 'POST', path: links, body: { nodes: [end(hub, 1), end(other)] } },
        ...{ told: '"link.created"', selector: made },
      }),
    },
    'impairments are set': {
      change: (round) => ({
        ...{ method: 'PUT', path: `${links}/${link}`, body: { impairments: { both: { delay: { ms: round + 1 } } } } },
        ...{ told: link, selector: `#link-${link} .mark`, shows: { name: 'text', value: `${round + 1} ms` } },
      }),
    },
  };
  const rows = [['', 'an empty page hears of it after ms, median', 'the other sees it, median', 'worst']];
  for (const [what, { change: changeOf, before }] of Object.entries(steps)) {
    const times: number[] = [];
    const others: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await before?.();
      const now = changeOf(round);
      const [shown, told] = [seen(bob, now), heard(empty, now)];
      const asked = await change(ada, now);
      times.push((await shown) - asked);
      others.push((await told) - asked);
    }
    rows.push([what, median(others).toFixed(0), median(times).toFixed(0), quantile(times, 1).toFixed(0)]);
  }
  await Promise.all([ada, bob, empty].map((page) => page.context().close()));
  return table(rows);
}
