// Entry of the page: the language first, as all that follows has its words from the beginning.
import { chooseLanguage } from './language.ts';

await chooseLanguage();
await import('./main.tsx');
