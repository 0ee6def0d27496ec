// All documents as one page of HTML without any other file: pictures are in it, and links lead to places within.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { documents } from '../src/help/documents.ts';
import { contentsHtml, documentHtml, inReadingOrder, pageHtml } from '../src/help/html.ts';

const root = join(import.meta.dirname, '..');

const idOf = (topic, anchor) => (anchor === '' ? topic : `${topic}--${anchor}`);

const place = {
  idOf,
  addressOf: (topic, anchor) => `#${idOf(topic, anchor)}`,
  /** A picture of the documents' folder as an address that holds it; undefined if it is no file of ours. */
  pictureOf(topic, path) {
    const file = join(root, topic === 'readme' ? '' : 'docs', path);
    const kind = { svg: 'image/svg+xml', png: 'image/png', gif: 'image/gif' }[file.split('.').at(-1)];
    if (kind === undefined || !existsSync(file)) return undefined;
    return `data:${kind};base64,${readFileSync(file).toString('base64')}`;
  },
};

/** @param version of Labwire, for the title */
export function documentsHtml(version) {
  const all = inReadingOrder(documents());
  const articles = all.map((one) => `<article id="${one.topic}">\n${documentHtml(one, place)}</article>`);
  const content = `<h1>Labwire ${version}</h1>${contentsHtml(all, place)}\n${articles.join('\n')}\n`;
  return pageHtml(`Labwire ${version}: the documents`, content);
}
