// Names that were already taken, so that the server chose another one. The page says so.
import { WORDS } from '../../words.ts';

/** The requested name, and the server's choice. */
export type OtherName = readonly [wanted: string, given: string];

/** Most sentences in a notice. */
const MOST = 5;

/** Whether a node got another name than requested. The server strips spaces, and a placeholder requests a number. */
export function isOtherName(wanted: string, given: string): boolean {
  return !wanted.includes('{') && wanted.replaceAll(' ', '') !== given;
}

export function otherNamesInWords(names: readonly OtherName[]): string {
  const sentences = names.slice(0, MOST).map(([wanted, given]) => WORDS.takenNames.other(wanted, given));
  return [...sentences, ...(names.length > MOST ? [WORDS.takenNames.more(names.length - MOST)] : [])].join(' ');
}
