// What the page begins with, all by itself: it brings the style and the script that the browser could not load, as often as it takes.
// What says so meanwhile stands in index.html, for this file may be missing, too.
import { pauseAfter, rested } from './model/server/backoff.ts';
import { serverPage } from './model/server/server-page.ts';

/** Failures after which the page is loaded anew: some browsers do not ask again for a script that has failed. */
const MOST_FAILURES = 5;

/** The address of the script that begins the page. */
declare const BEGIN_SCRIPT: string;

async function insist(load: () => Promise<unknown>): Promise<void> {
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

/** Whether the style has come: browsers disagree on what a sheet is that has not, but not on the colours that it gives. */
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

// Scripts of this kind run when the style has come, or has failed.
if (!isStyled()) await insist(styleAgain);
await insist(async () => {
  const { begin } = (await import(BEGIN_SCRIPT)) as typeof import('./begin.ts');
  await begin();
});
