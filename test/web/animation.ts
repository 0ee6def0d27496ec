// Makes docs/animation.gif, the first picture of the README: npm run animation
// A lab is drawn, started, pinged and captured, and gets 30 ms of delay, on a real server and in a real page; only the captions are added.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { usualSymbol } from '../../src/api/kinds/kinds.ts';
import { LabServer } from '../controller/lab-server.ts';
import { startBrowser, visit } from './browser.ts';

const root = join(import.meta.dirname, '../..');
const OUTPUT = join(root, 'docs/animation.gif');
const LARGEST_BYTES = 1_500_000;
const WIDTH = 1024;
const HEIGHT = 620;

interface Frame {
  /** In base64. */
  png: string;
  caption: string;
  milliseconds: number;
}

const NODES = [
  ['Switch1', 'ethernet_switch', -110, -110],
  ['Switch2', 'ethernet_switch', 110, -110],
  ['PC1', 'vpcs', -210, 20],
  ['PC2', 'vpcs', -70, 20],
  ['PC3', 'vpcs', 70, 20],
  ['PC4', 'vpcs', 210, 20],
] as const;

const LINKS = [
  ['Switch1', 0, 'Switch2', 0],
  ['PC1', 0, 'Switch1', 1],
  ['PC2', 0, 'Switch1', 2],
  ['PC3', 0, 'Switch2', 1],
  ['PC4', 0, 'Switch2', 2],
] as const;

/**
 * In the browser, which decodes PNG: one palette for all frames, and of each frame only the pixels that have changed.
 * @returns the GIF in base64
 */
async function encode([code, frames, width, height]: readonly [string, readonly Frame[], number, number]) {
  const { GIFEncoder, applyPalette, quantize } = await import(
    URL.createObjectURL(new Blob([code], { type: 'text/javascript' }))
  );
  const band = 34;
  const canvas = new OffscreenCanvas(width, height + band);
  const context = canvas.getContext('2d', { willReadFrequently: true })!;
  const images: Uint8ClampedArray[] = [];
  for (const { png, caption } of frames) {
    const bytes = Uint8Array.from(atob(png), (letter) => letter.charCodeAt(0));
    context.drawImage(await createImageBitmap(new Blob([bytes], { type: 'image/png' })), 0, 0);
    context.fillStyle = '#1b2733';
    context.fillRect(0, height, width, band);
    context.fillStyle = '#ffffff';
    context.font = '18px sans-serif';
    context.fillText(caption, 16, height + 23);
    images.push(context.getImageData(0, 0, width, height + band).data);
  }
  const step = 4 * 13;
  const some = new Uint8ClampedArray(images.length * Math.ceil((width * (height + band) * 4) / step) * 4);
  let filled = 0;
  for (const image of images)
    for (let at = 0; at < image.length; at += step, filled += 4) some.set(image.subarray(at, at + 4), filled);
  const palette = quantize(some.subarray(0, filled), 127);
  const transparentIndex = palette.length;
  palette.push([0, 0, 0]);
  const gif = GIFEncoder();
  let before: Uint8Array | undefined;
  for (const [index, image] of images.entries()) {
    const pixels: Uint8Array = applyPalette(image, palette.slice(0, -1));
    const changed = before ? pixels.map((pixel, at) => (pixel === before![at] ? transparentIndex : pixel)) : pixels;
    gif.writeFrame(changed, width, height + band, {
      ...{ palette: index === 0 ? palette : undefined, delay: frames[index]!.milliseconds },
      ...{ transparent: index > 0, transparentIndex, dispose: 1 },
    });
    before = pixels;
  }
  gif.finish();
  let text = '';
  for (const byte of gif.bytes() as Uint8Array) text += String.fromCharCode(byte);
  return btoa(text);
}

test('the animation of the README', async (t) => {
  const {
    server,
    project,
    path: lab,
  } = await LabServer.withLab(t, { name: 'Branch office' }, { 'VPCS.engine': 'built-in' });
  const browser = await startBrowser(t);
  const { page } = await visit(browser, `http://127.0.0.1:${server.port}/labs/${project.project_id}`, {
    viewport: { width: WIDTH, height: HEIGHT },
  });
  const frames: Frame[] = [];
  const show = async (caption: string, milliseconds: number): Promise<void> => {
    const png = (await page.screenshot({ animations: 'disabled', caret: 'hide' })).toString('base64');
    frames.push({ png, caption, milliseconds });
  };
  const fit = async (): Promise<void> => {
    await page.getByRole('button', { name: 'Fit' }).click();
    // Below the pointer the button looks pressed.
    await page.mouse.move(0, 0);
  };
  const list = page.getByRole('navigation');
  const details = page.getByRole('complementary');
  const screen = page.locator('.console:not([hidden]) .xterm-rows');

  await page.getByText('This lab is empty').first().waitFor();
  await show('An empty lab in the browser', 900);
  const ids = new Map<string, string>();
  for (const [name, node_type, x, y] of NODES) {
    const body = { name, node_type, compute_id: 'local', x, y, symbol: usualSymbol(node_type) };
    const properties =
      node_type === 'vpcs' ? { startup_script: `set pcname ${name}\nip 10.0.0.${name.at(-1)}/24\n` } : {};
    const made = await server.expect(201, 'POST', `${lab}/nodes`, { ...body, properties });
    ids.set(name, made.node_id);
    await list
      .getByRole('button', { name: new RegExp(`^${name} `) })
      .first()
      .waitFor();
    await fit();
    await show('Draw it: switches and PCs ...', 350);
  }
  const ends: string[] = [];
  for (const [one, onePort, other, otherPort] of LINKS) {
    const end = (name: string, port_number: number) => ({ node_id: ids.get(name), adapter_number: 0, port_number });
    const { link_id } = await server.expect(201, 'POST', `${lab}/links`, {
      nodes: [end(one, onePort), end(other, otherPort)],
    });
    ends.push(link_id);
    await list
      .getByRole('button', { name: new RegExp(`${one} .* – ${other} |${other} .* – ${one} `) })
      .first()
      .waitFor();
    await show('... and links', 350);
  }
  await server.expect(204, 'POST', `${lab}/nodes/start`);
  for (const name of ids.keys()) await list.getByRole('button', { name: `${name} on` }).waitFor();
  await show('Start it', 1200);

  await list.getByRole('button', { name: 'PC1 on' }).click();
  await details.getByRole('button', { name: 'Console' }).click();
  await screen
    .getByText(/PC1>|VPCS>/)
    .first()
    .waitFor();
  await show('Open a console', 900);
  const ping = 'ping 10.0.0.4 -c 3';
  for (let length = 0; length < ping.length; length += 3) {
    const typed = ping.slice(length, length + 3);
    await page.keyboard.type(typed);
    await screen
      .getByText(ping.slice(0, length + 3).trimEnd())
      .first()
      .waitFor();
    await show('Ping across two switches', 120);
  }
  const answers = async (caption: string): Promise<void> => {
    for (let seq = 1; seq <= 3; seq += 1) {
      await screen
        .getByText(new RegExp(`icmp_seq=${seq}`))
        .last()
        .waitFor();
      await show(caption, 700);
    }
  };
  await server.expect(201, 'POST', `${lab}/links/${ends[0]}/start_capture`);
  await page.keyboard.press('Enter');
  await answers('Ping across two switches');

  await list.getByRole('button', { name: /Switch1 .* – Switch2 / }).click();
  await details.getByRole('button', { name: 'Show packets' }).click();
  await page.getByText('echo reply').first().waitFor();
  await fit();
  await show('See the packets of any link, without another program', 3000);

  await server.expect(201, 'PUT', `${lab}/links/${ends[0]}`, { impairments: { both: { delay: { ms: 30 } } } });
  await page.getByText('30 ms').first().waitFor();
  await page.getByRole('button', { name: 'Split' }).click();
  await page.mouse.move(0, 0);
  await show('Give the link 30 ms of delay in each direction', 1800);
  await page.locator('.console:not([hidden]) .xterm-screen').click();
  await page.keyboard.type(`${ping}\r`);
  for (let seq = 1; seq <= 3; seq += 1) {
    await screen
      .getByText(new RegExp(`icmp_seq=${seq} ttl=64 time=[6-9]\\d`))
      .first()
      .waitFor();
    await show('The next ping takes 60 ms there and back', seq === 3 ? 3200 : 800);
  }

  const code = readFileSync(join(root, 'node_modules/gifenc/dist/gifenc.esm.js'), 'utf8');
  const encoder = await (await browser.newContext()).newPage();
  const gif = Buffer.from(await encoder.evaluate(encode, [code, frames, WIDTH, HEIGHT] as const), 'base64');
  const seconds = frames.reduce((sum, { milliseconds }) => sum + milliseconds, 0) / 1000;
  t.diagnostic(`${frames.length} frames, ${seconds} s, ${(gif.length / 2 ** 20).toFixed(2)} MiB`);
  if (gif.length > LARGEST_BYTES) throw new Error(`${gif.length} bytes are too many for the README: show fewer frames`);
  writeFileSync(OUTPUT, gif);
});
