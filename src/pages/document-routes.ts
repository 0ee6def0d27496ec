// The documents as pages of the server: a list at /help/docs, and each document below it.
import { createHash } from 'node:crypto';
import { notFound } from '../failures.ts';
import { type Route, route } from '../http/app/route.ts';

const LIST = '/help/docs';

const place = {
  idOf: (_topic: string, anchor: string): string => anchor,
  addressOf: (topic: string, anchor: string): string => `${LIST}/${topic}${anchor === '' ? '' : `#${anchor}`}`,
  // Pictures are not in the executable.
  pictureOf: (): undefined => undefined,
};

// Documents and their renderer are loaded by the first request.
const load = () => Promise.all([import('../help/documents.ts'), import('../help/html.ts')]);

async function answer(title: string, content: string): Promise<Response> {
  const [, { pageHtml, STYLE }] = await load();
  const style = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;
  return new Response(pageHtml(`${title} - Labwire`, content), {
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': `default-src 'none'; style-src ${style}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-cache',
    },
  });
}

const HEAD = `<nav><a href="/">Labwire</a> · <a href="${LIST}">Documents</a></nav>\n`;

export const documentRoutes: Route[] = [
  route(`GET ${LIST}`, { access: 'read' }, async () => {
    const [{ titles }, { contentsHtml, inReadingOrder }] = await load();
    const list = contentsHtml(inReadingOrder(titles()), place);
    return answer('Documents', `${HEAD}<main><h1>Documents</h1>\n${list}</main>`);
  }),
  route(`GET ${LIST}/{topic}`, { access: 'read' }, async ({ params: { topic } }) => {
    const [{ findDocument }, { documentHtml }] = await load();
    const document = findDocument(topic.toLowerCase().replace(/\.md$/, ''));
    if (!document) throw notFound(`topic: there is no document "${topic}"; ${LIST} lists them.`);
    return answer(document.title, `${HEAD}<main>${documentHtml(document, place)}</main>`);
  }),
];
