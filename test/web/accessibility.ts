// Faults of accessibility in the page, as axe finds them.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { IS_FIREFOX } from './firefox.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Links and nodes of the map are named in words: signs, and numbers that change every few seconds, are not read out as they stand there. */
const IN_WORDS = /^label-content-name-mismatch: <g class="(link|node)/;

interface AxeResult {
  violations: { id: string; nodes: { html: string; target: unknown }[] }[];
}

/** Violations of the page as it is now: rule, and the beginning of the element. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: { run(): Promise<AxeResult> } }).axe.run(),
  );
  return violations
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`))
    .filter((line) => !IN_WORDS.test(line));
}

/** The same in light, dark and forced colours, and at a zoom of 200 %; the page is as before afterwards. */
export async function accessibilityFaultsInAll(page: Page): Promise<string[]> {
  const found: string[] = [];
  const look = async (name: string): Promise<void> => {
    found.push(...(await accessibilityFaults(page)).map((line) => `${name}: ${line}`));
  };
  await page.emulateMedia({ colorScheme: 'light' });
  await look('light');
  if (!IS_FIREFOX) {
    await page.emulateMedia({ colorScheme: 'dark' });
    await look('dark');
    await page.emulateMedia({ forcedColors: 'active' });
    await look('forced colours');
  }
  await page.emulateMedia({ colorScheme: null, forcedColors: null });
  const size = page.viewportSize();
  if (size === null) return found;
  // A zoom leaves half of the pixels of CSS in each direction.
  await page.setViewportSize({ width: Math.round(size.width / 2), height: Math.round(size.height / 2) });
  await look('200 %');
  await page.setViewportSize(size);
  return found;
}
