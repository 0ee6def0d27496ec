// Renders documents as HTML: for the page, and for the one file of the bundle.
import { Marked } from 'marked';
import { type Document, linkTarget } from './documents.ts';

export const STYLE = `body{max-width:60rem;margin:2rem auto;padding:0 1rem;font:16px/1.5 system-ui,sans-serif;color:#1d2f42;background:#fff}
code,pre{font-family:ui-monospace,monospace;font-size:.9em}pre{background:#eef3f8;padding:.8em;overflow-x:auto}
table{border-collapse:collapse;display:block;overflow-x:auto}td,th{border:1px solid #c5d0da;padding:.3em .6em;text-align:left;vertical-align:top}
img{max-width:100%}article{border-top:2px solid #33506e;margin-top:3rem}:target{scroll-margin-top:1rem}
@media(prefers-color-scheme:dark){body{color:#dbe4ec;background:#14202b}pre{background:#1d2c3a}a{color:#8ec2f5}img{background:#fff}}`;

export interface Place {
  /** The `id` of a heading. */
  idOf(topic: string, anchor: string): string;
  /** The address of a document or one of its headings; `anchor` may be empty. */
  addressOf(topic: string, anchor: string): string;
  /** The address of a picture by the path in the document; undefined if it is missing. */
  pictureOf(topic: string, path: string): string | undefined;
}

export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

/** The document as HTML. Links to files other than documents and pictures are shown as their text. */
export function documentHtml({ topic, tokens, parts }: Document, place: Place): string {
  const anchors = parts.map(({ anchor }) => anchor);
  return new Marked({
    renderer: {
      heading({ tokens: inline, depth }) {
        const id = escaped(place.idOf(topic, anchors.shift() ?? ''));
        return `<h${depth} id="${id}">${this.parser.parseInline(inline)}</h${depth}>\n`;
      },
      link({ href, tokens: inline }) {
        const target = linkTarget(topic, href);
        const text = this.parser.parseInline(inline);
        if (target) return `<a href="${escaped(place.addressOf(target.topic, target.anchor))}">${text}</a>`;
        if (/^https?:/.test(href)) return `<a href="${escaped(href)}">${text}</a>`;
        return place.pictureOf(topic, href) === undefined ? `<i>${text}</i>` : text;
      },
      image({ href, text }) {
        const address = place.pictureOf(topic, href);
        if (address === undefined) return `<i>[picture: ${escaped(text)}]</i>`;
        return `<img src="${escaped(address)}" alt="${escaped(text)}">`;
      },
    },
  }).parser([...tokens]) as string;
}

/** A whole page. @param content HTML */
export function pageHtml(title: string, content: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title><style>${STYLE}</style></head>
<body>${content}</body></html>
`;
}

/** All documents, those for newcomers first. */
export function inReadingOrder<T extends Pick<Document, 'topic'>>(all: readonly T[]): T[] {
  const first = ['readme', 'install'].flatMap((wanted) => all.filter(({ topic }) => topic === wanted));
  return [...first, ...all.filter((one) => !first.includes(one))];
}

/** A list of links to documents. */
export function contentsHtml(
  all: readonly Pick<Document, 'topic' | 'title'>[],
  { addressOf }: Pick<Place, 'addressOf'>,
): string {
  const items = all.map(
    ({ topic, title }) => `<li><a href="${escaped(addressOf(topic, ''))}">${escaped(title)}</a></li>`,
  );
  return `<ul>\n${items.join('\n')}\n</ul>`;
}
