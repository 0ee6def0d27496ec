// Names that were taken, so that the server has chosen another one: the page says so, as nobody asked for that name.
import { signal } from '@preact/signals';
import { WORDS } from '../../words.ts';

/** A name that was asked for, and the one that the server has chosen. */
export type OtherName = readonly [wanted: string, given: string];

/** Sentences in one notice. */
const MOST = 5;

/** What is said of the lab that was made last, on every screen; a notice that goes by itself. */
export const labNotice = signal('');

/** Whether a node has another name than it was asked to have. Spaces are left out of every name, and a placeholder asks for a number. */
export function isOtherName(wanted: string, given: string): boolean {
  return !wanted.includes('{') && wanted.replaceAll(' ', '') !== given;
}

export function otherNamesInWords(names: readonly OtherName[]): string {
  const sentences = names.slice(0, MOST).map(([wanted, given]) => WORDS.takenNames.other(wanted, given));
  return [...sentences, ...(names.length > MOST ? [WORDS.takenNames.more(names.length - MOST)] : [])].join(' ');
}
