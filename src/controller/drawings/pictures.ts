// Pictures of drawings: how SVG text is stored and read back (as in release 2.2.57).
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SaxesParser } from 'saxes';
import { Failure, invalid } from '../../failures.ts';
import { Slots } from '../../host/values/slots.ts';
import { pictureSize } from '../symbols/picture-size.ts';

/** Texts up to this length are stored unparsed. */
const UNREAD_CHARACTERS = 500;
/** Longer texts become a picture file. */
const INLINE_CHARACTERS = 1_000;
/** Parsed before other work of the server has its turn: some milliseconds. */
const AT_ONCE_CHARACTERS = 64 * 1024;
/** Several pictures are parsed one after the other, so that all of them together take no more of each turn. */
const parsing = new Slots(1);
/** The parser's time grows with the square of the depth, and the attributes of an element are checked at once. */
const MOST_LEVELS = 256;
const MOST_ATTRIBUTES = 1_000;

/** Shown for a picture that cannot be read. */
export const EMPTY = '<svg></svg>';

const SVG_NAMESPACE = 'http://www.w3.org/2000/svg';
const XLINK_NAMESPACE = 'http://www.w3.org/1999/xlink';

/** How an SVG text is stored: in the topology itself, or as a file of the project. */
export type KeptPicture = { kind: 'inline'; svg: string } | { kind: 'file'; name: string; data: Buffer };

interface RootPicture {
  /** Images that are direct children of the root. */
  images: number;
  link: string | undefined;
}

/** Parses the text as XML; undefined if it is not XML. @throws Failure `invalid` for one that takes too long to parse */
async function rootPicture(svg: string): Promise<RootPicture | undefined> {
  using _slot = await parsing.take();
  const found: RootPicture = { images: 0, link: undefined };
  let depth = 0;
  let attributes = 0;
  try {
    const parser = new SaxesParser({ xmlns: true });
    parser.on('error', (error) => {
      throw error;
    });
    parser.on('attribute', () => {
      attributes += 1;
      if (attributes > MOST_ATTRIBUTES) throw invalid(`svg: an element has more than ${MOST_ATTRIBUTES} attributes.`);
    });
    parser.on('opentag', (tag) => {
      attributes = 0;
      depth += 1;
      if (depth > MOST_LEVELS) throw invalid(`svg: elements are nested more than ${MOST_LEVELS} levels deep.`);
      if (depth !== 2 || tag.local !== 'image' || tag.uri !== SVG_NAMESPACE) return;
      found.images += 1;
      const link = Object.values(tag.attributes).find(({ local, uri }) => local === 'href' && uri === XLINK_NAMESPACE);
      found.link = link?.value;
    });
    parser.on('closetag', () => {
      depth -= 1;
    });
    for (let at = 0; at < svg.length; at += AT_ONCE_CHARACTERS) {
      if (at > 0) await nextTurn();
      parser.write(svg.slice(at, at + AT_ONCE_CHARACTERS));
    }
    parser.close();
    return found;
  } catch (error) {
    if (error instanceof Failure) throw error;
    return undefined;
  }
}

const md5 = (data: string | Buffer): string => createHash('md5').update(data).digest('hex');

/** How to store a drawing's text; undefined for a long text that is not XML, so that the previous one stays. @throws Failure */
export async function keptPicture(svg: string): Promise<KeptPicture | undefined> {
  if (svg.length < UNREAD_CHARACTERS) return { kind: 'inline', svg };
  const root = await rootPicture(svg);
  if (!root) return undefined;
  const embedded = root.images === 1 ? /^data:([^;,]*)[^,]*;base64,(.*)$/s.exec(root.link ?? '') : null;
  if (embedded) {
    const data = Buffer.from(embedded[2] as string, 'base64');
    const extension =
      (embedded[1] as string)
        .replace(/^.*\//, '')
        .toLowerCase()
        .replaceAll(/[^a-z0-9]/g, '') || 'bin';
    return { kind: 'file', name: `${md5(data)}.${extension}`, data };
  }
  if (svg.length > INLINE_CHARACTERS) return { kind: 'file', name: `${md5(svg)}.svg`, data: Buffer.from(svg, 'utf8') };
  return { kind: 'inline', svg };
}

/** Whether a stored value is the name of a picture file. */
export function isPictureName(kept: string): boolean {
  return !kept.includes('<svg');
}

/** The SVG for a picture file: SVG text unchanged, other formats embedded in an SVG. */
export function shownPicture(name: string, data: Buffer): string {
  if (isUtf8(data)) return data.toString('utf8');
  const { width, height } = pictureSize(data) ?? { width: 0, height: 0 };
  const type = name.slice(name.lastIndexOf('.') + 1).replace('jpg', 'jpeg');
  return (
    `<svg xmlns="${SVG_NAMESPACE}" xmlns:xlink="${XLINK_NAMESPACE}" width="${width}" height="${height}">` +
    `<image width="${width}" height="${height}" xlink:href="data:image/${type};base64,${data.toString('base64')}"/></svg>`
  );
}
