// Runs the server from its sources for those who change the page: it is bundled anew when a file in src/web changes, and pages that are
// open load themselves again. Nothing of this is in the executable. `node --watch` starts all of it anew when the server's own sources change.
import { watch } from 'node:fs';
import { join } from 'node:path';
import { socketRoute } from '../src/http/app/route.ts';
import { developmentRoutes } from '../src/pages/routes.ts';
import { addScript, bundleAnew } from '../src/pages/web-files.ts';

/** Milliseconds without a change: editors write a file in several steps. */
const STILL_MS = 100;

const pages = new Set();
developmentRoutes.push(
  socketRoute('/development/ws', () => (page) => {
    pages.add(page);
    page.listen({ close: () => pages.delete(page) });
  }),
);

// A server that was started anew has other sources, too.
addScript(`
const follow = (isBack) => {
  const socket = new WebSocket(new URL('/development/ws', location.href).href.replace(/^http/, 'ws'));
  socket.onopen = () => isBack && location.reload();
  socket.onmessage = () => location.reload();
  socket.onclose = () => setTimeout(follow, 500, true);
};
follow(false);
`);

async function changed() {
  try {
    await bundleAnew();
  } catch {
    // The bundler has said on standard error what is wrong: pages stay as they are until it is mended.
    return;
  }
  for (const page of pages) page.send('changed');
}

let timer;
watch(join(import.meta.dirname, '../src/web'), { recursive: true }, () => {
  clearTimeout(timer);
  timer = setTimeout(() => void changed(), STILL_MS);
});

await import('../src/main.ts');
