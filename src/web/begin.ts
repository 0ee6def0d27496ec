// Begins the page once its files are there: the language first, as all that follows has its words from the beginning.
import { chooseLanguage } from './language.ts';

/** @throws TypeError when a file of the page does not come: it can be called again */
export async function begin(): Promise<void> {
  await chooseLanguage();
  await import('./main.tsx');
}
