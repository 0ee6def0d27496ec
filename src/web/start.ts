// The first script of the page: loads the style sheet and the main script, with retries. The message shown meanwhile is in index.html,
// because this file may fail to load, too.
import { pauseAfter, rested } from './model/server/backoff.ts';
import { serverPage } from './model/server/server-page.ts';

/** Failures after which the page is reloaded, because some browsers never refetch a failed script. */
const MOST_FAILURES = 5;

/** Address of the main script. */
declare const BEGIN_SCRIPT: string;

async function loadWithRetry(load: () => Promise<unknown>): Promise<void> {
  for (let failures = 1; ; failures += 1) {
    try {
      await load();
      return;
    } catch (error) {
      reportError(error);
      document.getElementById('loading')?.classList.add('failed');
      const server = await serverPage();
      // Nothing is shown yet that could be lost.
      if (server === 'other' || (server === 'same' && failures >= MOST_FAILURES)) location.reload();
      await rested(pauseAfter(failures));
    }
  }
}

/** Whether the style sheet has loaded. Browsers represent a missing sheet differently, so this checks a colour that it sets. */
function isStyled(): boolean {
  return getComputedStyle(document.documentElement).getPropertyValue('--ground') !== '';
}

function styleAgain(): Promise<unknown> {
  const former = document.querySelector<HTMLLinkElement>('link[rel="stylesheet"]')!;
  const link = former.cloneNode() as HTMLLinkElement;
  return new Promise((resolve, reject) => {
    link.onload = resolve;
    link.onerror = () => reject(new Error(`${link.href} does not come.`));
    former.replaceWith(link);
  });
}

// Module scripts run when the style sheet has loaded or failed.
if (!isStyled()) await loadWithRetry(styleAgain);
await loadWithRetry(async () => {
  const { begin } = (await import(BEGIN_SCRIPT)) as typeof import('./begin.ts');
  await begin();
});
