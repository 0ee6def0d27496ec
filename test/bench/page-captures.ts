// Captures in the page: how soon a frame is in the list, and how the API answers the page meanwhile, beside an empty page.
import type { Browser, Page } from 'playwright-core';
import type { Body } from '../body.ts';
import { openFrameSender } from '../controller/frame-sender.ts';
import type { Daemon } from '../system/daemon.ts';
import { CORPUS } from '../web-units/corpus.ts';
import { median, quantile, table } from './measure.ts';
import { emptyPage } from './page-empty.ts';

const LINKS = 8;
const ROUNDS = 20;
const QUESTIONS = 100;
const FLOOD_MS = 10_000;
const FRAMES_PER_MS = 10;
const TICK_MS = 10;
const FRAME = CORPUS[0]!.bytes;

/** How long the API takes for each answer to this page, in milliseconds, until it is enough. */
async function answers(page: Page, isEnough: (count: number) => boolean): Promise<number[]> {
  const times: number[] = [];
  while (!isEnough(times.length)) {
    times.push(
      await page.evaluate(async () => {
        const asked = performance.now();
        await (await fetch('/v2/version')).text();
        return performance.now() - asked;
      }),
    );
  }
  return times;
}

/** Answers when the list that is shown has a row more. */
function nextRow(page: Page): Promise<number> {
  return page.evaluate(() => {
    const rows = (): number => document.querySelectorAll('.capture:not([hidden]) tbody .packet').length;
    const before = rows();
    return new Promise<number>((resolve) => {
      const observer = new MutationObserver(() => {
        if (rows() === before) return;
        observer.disconnect();
        requestAnimationFrame(() => resolve(performance.timeOrigin + performance.now()));
      });
      observer.observe(document, { childList: true, subtree: true });
    });
  });
}

/** Sends as many in each moment as are due then; answers how many there were. */
async function flood(send: (frames: Uint8Array[]) => Promise<void>): Promise<number> {
  const begun = performance.now();
  let sent = 0;
  for (;;) {
    const elapsed = Math.min(performance.now() - begun, FLOOD_MS);
    const due = Math.round(elapsed * FRAMES_PER_MS);
    await send(Array.from({ length: due - sent }, () => FRAME));
    sent = due;
    if (elapsed === FLOOD_MS) return sent;
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
}

/** A hub with as many others around it: their links, and what is asked to send into it. */
async function star(daemon: Daemon, project: Body): Promise<{ hub: Body; links: string[] }> {
  const path = `/v2/projects/${project.project_id}`;
  const hubOf = (name: string, more: object): Promise<Body> =>
    daemon.post(`${path}/nodes`, { name, node_type: 'ethernet_hub', compute_id: 'local', ...more });
  const ports = Array.from({ length: LINKS + 1 }, (_, at) => ({ name: `Ethernet${at}`, port_number: at }));
  const hub = await hubOf('Middle', { properties: { ports_mapping: ports } });
  const links: string[] = [];
  for (let at = 0; at < LINKS; at += 1) {
    const other = await hubOf(`H${at + 1}`, { x: at * 100, y: 150 });
    const ends = [
      [hub, at],
      [other, 0],
    ].map(([{ node_id }, port_number]) => ({ node_id, adapter_number: 0, port_number }));
    links.push((await daemon.post(`${path}/links`, { nodes: ends })).link_id);
  }
  return { hub, links };
}

/** What is printed of it. */
export async function captures(browser: Browser, daemon: Daemon): Promise<string> {
  const project = await daemon.post('/v2/projects', { name: 'Captures', auto_close: false });
  const path = `/v2/projects/${project.project_id}`;
  const { hub, links } = await star(daemon, project);
  const sender = await openFrameSender((at, body) => daemon.post(at, body), { project, hub, port: LINKS });
  const empty = await emptyPage(browser, daemon);
  const page = await (await browser.newContext()).newPage();
  const rows = [['', 'the API answers an empty page after ms, median', 'worst', 'the page, median', 'worst']];
  const row = (what: string, ...both: (readonly number[])[]): void => {
    rows.push([what, ...both.flatMap((times) => [median(times).toFixed(1), quantile(times, 1).toFixed(1)])]);
  };
  try {
    const alone = await answers(empty, (count) => count === QUESTIONS);
    await page.goto(`${daemon.url}/labs/${project.project_id}`);
    for (const [index] of links.entries()) {
      const link = new RegExp(`Middle .* – H${index + 1} `);
      await page.getByRole('navigation').getByRole('button', { name: link }).click();
      await page.getByRole('button', { name: 'Start capture' }).click();
      await page.locator('.capture:not([hidden])').getByText('0 frames').waitFor();
    }
    row(`${LINKS} captures`, alone, await answers(page, (count) => count === QUESTIONS));
    const waits: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const shown = nextRow(page);
      const sent = performance.timeOrigin + performance.now();
      await sender.send([FRAME]);
      waits.push((await shown) - sent);
    }

    // A flood through one of them alone.
    for (const link of links.slice(1)) await daemon.post(`${path}/links/${link}/stop_capture`, {});
    await page.getByRole('button', { name: 'Middle – H1', exact: true }).click();
    let isOver = false;
    const meanwhile = answers(page, () => isOver);
    const sent = await flood((frames) => sender.send(frames));
    isOver = true;
    row(`${FRAMES_PER_MS * 1000} frames a second, one capture`, alone, await meanwhile);
    const figures = page.locator('.capture:not([hidden]) .capture-figures');
    const { frames, drops } = await settled(daemon, `${path}/links/${links[0]}/statistics`);
    await figures.getByText(`${frames.toLocaleString('en')} frames`).waitFor();
    await figures.getByText(`${drops.toLocaleString('en')} dropped`).waitFor();
    return `${table(rows)}

With ${LINKS} captures a frame is in the list ${median(waits).toFixed(0)} ms after it was sent (median of ${ROUNDS}), ${quantile(waits, 1).toFixed(0)} ms at worst. Of a flood of ${sent} frames in ${FLOOD_MS / 1000} s
${frames - ROUNDS} were captured and ${drops} dropped, and the page told so.`;
  } finally {
    sender.close();
    await Promise.all([page, empty].map((each) => each.context().close()));
  }
}

/** The figures of a capture, when they change no more. */
async function settled(daemon: Daemon, path: string): Promise<{ frames: number; drops: number }> {
  const read = async (): Promise<{ frames: number; drops: number }> => {
    const { ends } = await daemon.get(path);
    return ends.map(({ statistics }: Body) => statistics.capture).find(Boolean);
  };
  for (let former = await read(); ; ) {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const now = await read();
    if (now.frames === former.frames && now.drops === former.drops) return now;
    former = now;
  }
}
