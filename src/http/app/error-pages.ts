// Refusals as HTML pages for users who opened a link or address in a browser. Programs get JSON.
import { createHash } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { LOGOUT } from '../access/logout-requests.ts';
import type { AppEnvironment } from './app.ts';

const STYLE =
  ':root{color-scheme:light dark;font:1rem/1.5 system-ui,sans-serif}body{max-width:40rem;margin:15vh auto 0;padding:0 1rem;overflow-wrap:anywhere}code{font-family:ui-monospace,monospace}';

const POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

interface Words {
  title: string;
  /** What the user can do, as HTML. */
  advice: string;
}

const WORDS: Readonly<Record<number, Words>> = {
  401: {
    title: 'User and password, please',
    advice:
      '<p>This server is for those who know its user and password. Load this page again to be asked once more.</p>' +
      '<p>On the host, the first password is in the file <code>initial-password</code> of the state directory, and <code>labwired password</code> sets another.</p>',
  },
  403: {
    title: 'Not allowed',
    advice: '<p>Nothing was changed. <a href="/">To the labs of this server</a></p>',
  },
};

const LOGGED_OUT: Words = {
  title: 'You have logged out',
  advice: '<p><a href="/">Log in</a></p>',
};

/** Replaces the body of 401 and 403 responses when a browser opens a page. */
export const pagesForPeople: MiddlewareHandler<{ Bindings: AppEnvironment }> = async (context, next) => {
  await next();
  const { status } = context.res;
  const words = status === 401 && context.req.path === LOGOUT ? LOGGED_OUT : WORDS[status];
  if (!words || !isNavigation(context.req.method, (name) => context.req.header(name))) return;
  const { res } = context;
  const message = messageOf(await res.text());
  const headers = new Headers(res.headers);
  headers.delete('Content-Length');
  headers.set('Content-Type', 'text/html; charset=utf-8');
  headers.set('Content-Security-Policy', POLICY);
  headers.set('X-Content-Type-Options', 'nosniff');
  headers.set('Cache-Control', 'no-store');
  context.res = undefined;
  context.res = new Response(pageOf(words, message), { status: res.status, headers });
};

function isNavigation(method: string, header: (name: string) => string | undefined): boolean {
  if (method !== 'GET') return false;
  const mode = header('sec-fetch-mode');
  if (mode !== undefined) return mode === 'navigate';
  return /\btext\/html\b/i.test(header('accept') ?? '');
}

/** The message in a JSON error, or the text itself. */
function messageOf(body: string): string {
  try {
    return String(JSON.parse(body).message ?? '');
  } catch {
    return body;
  }
}

function pageOf({ title, advice }: Words, message: string): string {
  const sentence = message === '' ? '' : `<p>${escaped(message)}</p>`;
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title} - Labwire</title><style>${STYLE}</style><main><h1>${title}</h1>${sentence}${advice}</main></html>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
