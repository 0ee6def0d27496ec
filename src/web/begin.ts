// Starts the page once its files are loaded. The language comes first, because all later modules use its words.
import { chooseLanguage } from './language.ts';

/** @throws TypeError when a file of the page fails to load; call it again then */
export async function begin(): Promise<void> {
  await chooseLanguage();
  await import('./main.tsx');
}
