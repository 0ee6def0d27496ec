// All documents as one page of HTML without any other file: pictures are in it, and links lead to places within.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Marked } from 'marked';
import { documents, linkTarget } from '../src/help/documents.ts';

const root = join(import.meta.dirname, '..');

const STYLE = `body{max-width:60rem;margin:2rem auto;padding:0 1rem;font:16px/1.5 system-ui,sans-serif;color:#1d2f42;background:#fff}
code,pre{font-family:ui-monospace,monospace;font-size:.9em}pre{background:#eef3f8;padding:.8em;overflow-x:auto}
table{border-collapse:collapse;display:block;overflow-x:auto}td,th{border:1px solid #c5d0da;padding:.3em .6em;text-align:left;vertical-align:top}
img{max-width:100%}article{border-top:2px solid #33506e;margin-top:3rem}
@media(prefers-color-scheme:dark){body{color:#dbe4ec;background:#14202b}pre{background:#1d2c3a}a{color:#8ec2f5}img{background:#fff}}`;

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
const idOf = (topic, anchor) => (anchor === '' ? topic : `${topic}--${anchor}`);

/** A picture of the documents' folder as an address that holds it; undefined if it is no file of ours. */
function pictured(topic, href) {
  const file = join(root, topic === 'readme' ? '' : 'docs', href);
  const kind = { svg: 'image/svg+xml', png: 'image/png' }[file.split('.').at(-1)];
  if (kind === undefined || !existsSync(file)) return undefined;
  return `data:${kind};base64,${readFileSync(file).toString('base64')}`;
}

function article({ topic, tokens, parts }) {
  const anchors = parts.map(({ anchor }) => anchor);
  const html = new Marked({
    renderer: {
      heading({ tokens: inline, depth }) {
        return `<h${depth} id="${idOf(topic, anchors.shift() ?? '')}">${this.parser.parseInline(inline)}</h${depth}>\n`;
      },
      link({ href, tokens: inline }) {
        const target = linkTarget(topic, href);
        const text = this.parser.parseInline(inline);
        if (target) return `<a href="#${escaped(idOf(target.topic, target.anchor))}">${text}</a>`;
        const picture = pictured(topic, href);
        // A file of the sources, which are not here: its name is what the text says.
        return /^https?:/.test(href) ? `<a href="${escaped(href)}">${text}</a>` : picture ? text : `<i>${text}</i>`;
      },
      image({ href, text }) {
        return `<img src="${pictured(topic, href) ?? ''}" alt="${escaped(text)}">`;
      },
    },
  }).parser([...tokens]);
  return `<article id="${topic}">\n${html}</article>`;
}

/** @param version of Labwire, for the title */
export function documentsHtml(version) {
  const all = documents();
  const first = all.filter(({ topic }) => topic === 'readme' || topic === 'install');
  const ordered = [...first.reverse(), ...all.filter((one) => !first.includes(one))];
  const list = ordered.map(({ topic, title }) => `<li><a href="#${topic}">${escaped(title)}</a></li>`).join('\n');
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Labwire ${version}: the documents</title><style>${STYLE}</style></head>
<body><h1>Labwire ${version}</h1><ul>
${list}
</ul>
${ordered.map(article).join('\n')}
</body></html>
`;
}
