// A hub with others around it, whose links are captured, and the list of a capture as the page shows it.
import type { TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import type { Body } from '../body.ts';
import { frameSender } from '../controller/frame-sender.ts';
import type { LabServer } from '../controller/lab-server.ts';

export interface Star {
  server: LabServer;
  project: Body;
  links: Body[];
  send: (frames: Iterable<Uint8Array>) => Promise<void>;
}

/** A hub with others around it: what is sent into it passes all links. */
export async function star(t: TestContext, server: LabServer, count: number): Promise<Star> {
  const project = await server.project('star', { auto_close: false });
  const many = Array.from({ length: count + 1 }, (_, index) => ({ name: `Ethernet${index}`, port_number: index }));
  const hub = await server.hub(project, 'Middle', { x: 0, y: 0, properties: { ports_mapping: many } });
  const links = [];
  for (let index = 0; index < count; index++) {
    const at = { x: (index % 4) * 150 - 225, y: index < 4 ? -150 : 150 };
    links.push(await server.link(project, [hub, index], [await server.hub(project, `H${index + 1}`, at), 0]));
  }
  const send = await frameSender(t, server, { project, hub, port: count });
  return { server, project, links, send };
}

export const pane = (page: Page) => page.locator('.capture:not([hidden])');
export const rows = (page: Page) => pane(page).locator('tbody .packet');

export async function cells(page: Page): Promise<string[][]> {
  return rows(page).evaluateAll((all) =>
    all
      .map((row) => [...row.children].map((cell) => cell.textContent ?? ''))
      .sort(([one], [other]) => Number(one) - Number(other)),
  );
}
