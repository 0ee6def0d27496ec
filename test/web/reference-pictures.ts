// Pictures of the page that are kept: how they are taken, compared with the kept ones, and written.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';

/** Lossless WebP, half of the size of PNG. */
export const KEPT = join(import.meta.dirname, 'reference-pictures');
/** Where a failure leaves what it saw, what it expected, and what differs. */
export const LEFT = join(import.meta.dirname, '../../dist/reference-pictures');

/** Pixels of a picture that may differ: more than a blinking caret, less than a moved button. */
const LARGEST_SHARE = 0.002;
/** Below it a colour counts as the same: other releases of a browser round edges of letters otherwise. */
const THRESHOLD = 0.12;

export interface PictureOptions {
  /** Folder of the kept pictures. */
  kept: string;
  /** Where a failure leaves its pictures. */
  left: string;
  /** Keeps what is seen. */
  isUpdate: boolean;
}

export const SIZES = [
  { width: 1440, height: 900 },
  { width: 1024, height: 768 },
  { width: 390, height: 844 },
];
/** A window of 1,280 by 1,024 pixels at 400 %. */
const LARGEST_ZOOM = { width: 320, height: 256 };
/** What readers may set, as WCAG 1.4.12 has it. */
const SPACED = '* { letter-spacing: 0.12em !important; word-spacing: 0.16em !important; line-height: 1.5 !important }';
const SCHEMES = ['light', 'dark'] as const;

/** More colours than a screen has, but not those of each edge of a letter. */
const COLOURS = 16;

const { resolve } = createRequire(import.meta.url);
const PIXELMATCH = readFileSync(resolve('pixelmatch'), 'utf8');
const GIFENC = readFileSync(join(dirname(resolve('gifenc')), 'gifenc.esm.js'), 'utf8');

interface Comparison {
  /** Pixels that differ; undefined where nothing is kept. */
  different: number | undefined;
  pixels: number;
  /** In base64: what is seen as lossless WebP, and, if it differs, both and the difference as PNG. */
  seen: string;
  pictures: Record<'seen' | 'kept' | 'difference', string> | undefined;
}

interface Options {
  pixelmatch: string;
  gifenc: string;
  threshold: number;
  colours: number;
}

/** In the browser, which decodes and encodes. */
async function compare([seen, kept, options]: readonly [string, string | undefined, Options]) {
  const load = (code: string) => import(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })));
  const { default: pixelmatch } = await load(options.pixelmatch);
  const { quantize, applyPalette } = await load(options.gifenc);
  const read = async (text: string, type: string): Promise<ImageData> => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type }));
    const context = new OffscreenCanvas(image.width, image.height).getContext('2d')!;
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height);
  };
  const write = async (image: ImageData, type: string): Promise<string> => {
    const canvas = new OffscreenCanvas(image.width, image.height);
    canvas.getContext('2d')!.putImageData(image, 0, 0);
    const blob = await canvas.convertToBlob({ type, quality: 1 });
    let text = '';
    for (const byte of new Uint8Array(await blob.arrayBuffer())) text += String.fromCharCode(byte);
    return btoa(text);
  };
  const own = await read(seen, 'image/png');
  const pixels = own.width * own.height;
  const result: Comparison = { different: undefined, pixels, seen: '', pictures: undefined };
  if (kept !== undefined) {
    const other = await read(kept, 'image/webp');
    const difference = new ImageData(own.width, own.height);
    const isSameSize = own.width === other.width && own.height === other.height;
    result.different = isSameSize
      ? pixelmatch(own.data, other.data, difference.data, own.width, own.height, { threshold: options.threshold })
      : pixels;
    if (result.different === 0) return result;
    result.pictures = {
      seen,
      kept: await write(other, 'image/png'),
      difference: await write(difference, 'image/png'),
    };
  }
  const palette: number[][] = quantize(own.data, options.colours);
  for (const [at, colour] of applyPalette(own.data, palette).entries())
    own.data.set([...palette[colour]!.slice(0, 3), 255], 4 * at);
  result.seen = await write(own, 'image/webp');
  return result;
}

/** The page has drawn what has changed, and has the pictures that are in view. */
async function drawn(page: Page): Promise<void> {
  const twoFrames = () =>
    page.evaluate(() => new Promise<void>((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))));
  await twoFrames();
  await page.waitForFunction(async () => {
    const seen = [...document.images].filter((image) => {
      const { top, bottom, height } = image.getBoundingClientRect();
      return height > 0 && bottom >= 0 && top <= innerHeight;
    });
    if (!seen.every(({ complete }) => complete)) return false;
    // One whose address changes meanwhile is no failure, but looked at again.
    const decoded = await Promise.allSettled(seen.map((image) => image.decode()));
    return decoded.every(({ status }) => status === 'fulfilled');
  });
  await twoFrames();
}

/** Adds a style sheet to the page, which allows none in its document. */
export function addStyle(page: Page, style: string): Promise<void> {
  return page.evaluate((text) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    document.adoptedStyleSheets.push(sheet);
  }, style);
}

/** Takes pictures of a page in all sizes and schemes, and compares each with the kept one. */
export class ReferencePictures {
  /** What differs or is missing, a line each. */
  readonly faults: string[] = [];
  readonly names: string[] = [];
  readonly #judge: Page;
  readonly #options: PictureOptions;

  private constructor(judge: Page, options: PictureOptions) {
    this.#judge = judge;
    this.#options = options;
  }

  static async start(browser: Browser, options: PictureOptions): Promise<ReferencePictures> {
    rmSync(options.left, { recursive: true, force: true });
    return new ReferencePictures(await browser.newPage(), options);
  }

  /**
   * @param settle brings the screen into order after each change of its size
   * @param hidden what differs at each run, such as times
   */
  async take(page: Page, name: string, settle: () => Promise<unknown> = async () => {}, hidden: Locator[] = []) {
    for (const size of SIZES) {
      await page.setViewportSize(size);
      await drawn(page);
      await settle();
      await drawn(page);
      for (const colorScheme of SCHEMES) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        await this.#one(page, `${name}-${size.width}-${colorScheme}`, hidden);
      }
    }
    await page.setViewportSize(SIZES[0]!);
    await settle();
  }

  /** Takes two more: at 400 % zoom, and with the text spacing that readers may set. */
  async takeForReaders(page: Page, name: string, settle: () => Promise<unknown> = async () => {}) {
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
    await page.setViewportSize(LARGEST_ZOOM);
    await drawn(page);
    await settle();
    await drawn(page);
    await this.#one(page, `${name}-zoom`, []);
    await page.setViewportSize(SIZES[1]!);
    await addStyle(page, SPACED);
    await drawn(page);
    await settle();
    await drawn(page);
    await this.#one(page, `${name}-spaced`, []);
    await page.evaluate(() => void document.adoptedStyleSheets.pop());
    await page.setViewportSize(SIZES[0]!);
    await settle();
  }

  async #one(page: Page, name: string, hidden: Locator[]): Promise<void> {
    this.names.push(name);
    const { kept: folder, left: rest, isUpdate } = this.#options;
    const file = join(folder, `${name}.webp`);
    const kept = existsSync(file) ? readFileSync(file).toString('base64') : undefined;
    let result = await this.#look(page, hidden, kept);
    // A picture or a list that arrives late is no difference: it is looked at until it stays, as below.
    for (let again = 0; again < 5 && kept !== undefined && !isUpdate && !this.#isSame(result); again += 1) {
      await page.waitForTimeout(100 * 2 ** again);
      result = await this.#look(page, hidden, kept);
    }
    if (this.#isSame(result)) return;
    if (isUpdate) {
      // What is kept is what stays.
      for (let again = 0, former = ''; again < 10 && former !== result.seen; again += 1) {
        former = result.seen;
        await page.waitForTimeout(200);
        result = await this.#look(page, hidden, kept);
        if (this.#isSame(result)) return;
      }
      mkdirSync(folder, { recursive: true });
      writeFileSync(file, Buffer.from(result.seen, 'base64'));
      return;
    }
    if (result.pictures === undefined) {
      this.faults.push(`${name}: no picture is kept`);
      return;
    }
    for (const [kind, picture] of Object.entries(result.pictures)) {
      const left = join(rest, `${name}-${kind}.png`);
      mkdirSync(dirname(left), { recursive: true });
      writeFileSync(left, Buffer.from(picture, 'base64'));
    }
    const share = ((100 * result.different!) / result.pixels).toFixed(2);
    this.faults.push(`${name}: ${share} % of the pixels differ; see ${rest}/${name}-*.png`);
  }

  async #look(page: Page, hidden: Locator[], kept: string | undefined): Promise<Comparison> {
    const shot = await page.screenshot({ animations: 'disabled', caret: 'hide', mask: hidden, maskColor: '#808080' });
    const options = { pixelmatch: PIXELMATCH, gifenc: GIFENC, threshold: THRESHOLD, colours: COLOURS };
    return this.#judge.evaluate(compare, [shot.toString('base64'), kept, options] as const);
  }

  #isSame({ different, pixels }: Comparison): boolean {
    return different !== undefined && different <= pixels * LARGEST_SHARE;
  }
}
