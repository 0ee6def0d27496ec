// The language of the page: which one, and how it writes numbers, times and plurals. It is chosen once, before any other part begins.
import { sentenceOf } from './model/server/sentence.ts';

/** A file of `languages/`: what it has in place of the English words, see `Words` of `words.ts` and `AuditWords` of `people/audit-words.ts`. */
interface Language {
  words(english: unknown): unknown;
  auditWords(english: unknown): unknown;
}

/** The page is written in it. */
const FIRST = 'en';
/** Where this browser remembers that somebody wants another one than the browser's own. */
const SETTING = 'language';

/** By BCP 47, for `lang` and for `Intl`. */
let tag = FIRST;
let language: Language | undefined;
/** A language that there is and that could not be loaded. */
let missing: string | undefined;
/** What the bundler says of a file that it has not. */
const NO_SUCH = /not found in bundle/;

/**
 * Takes the language that `?language=` asks for (and remembers it; `?language=` alone forgets it), or the remembered one, or the first of the
 * browser's that there is. Whatever is not there leaves English; so does one that does not come, which `missingLanguage` tells.
 */
export async function chooseLanguage(): Promise<void> {
  const wanted = wantedOne();
  for (const one of wanted ? [wanted] : navigator.languages) {
    for (const name of new Set([one, one.split('-')[0]!])) {
      if (name === FIRST || (await load(name))) {
        document.documentElement.lang = tag;
        return;
      }
    }
  }
}

async function load(name: string): Promise<boolean> {
  let found: Language;
  try {
    // The bundler makes a part of each file in the folder, which is loaded only here. For others it throws at once, without a request.
    found = (await import(`./languages/${name}.ts`)) as Language;
  } catch (error) {
    if (!NO_SUCH.test(sentenceOf(error))) missing ??= name;
    return false;
  }
  language = found;
  tag = name;
  return true;
}

function wantedOne(): string | undefined {
  const asked = new URLSearchParams(location.search).get(SETTING);
  try {
    if (asked) localStorage.setItem(SETTING, asked);
    else if (asked === '') localStorage.removeItem(SETTING);
    return asked ?? localStorage.getItem(SETTING) ?? undefined;
  } catch {
    // Without a store it is forgotten with the page.
    return asked ?? undefined;
  }
}

/** The name of the language that should be there and did not come, in the language that is. */
export function missingLanguage(): string | undefined {
  if (missing === undefined || language !== undefined) return undefined;
  return new Intl.DisplayNames(tag, { type: 'language' }).of(missing) ?? missing;
}

/** A part of the words, in the language that was chosen. */
export function chosenWords<Words>(part: keyof Language, english: Words): Words {
  return language ? (language[part](english) as Words) : english;
}

export function inNumbers(value: number, digits = 0): string {
  return value.toLocaleString(tag, { maximumFractionDigits: digits });
}

/** The form that goes with a number: English has `one` and `other`, others have more of them. */
export function plural(count: number, forms: Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }): string {
  return forms[new Intl.PluralRules(tag).select(count)] ?? forms.other;
}

export function timeInWords(time: Date, options?: Intl.DateTimeFormatOptions): string {
  return time.toLocaleTimeString(tag === FIRST ? undefined : tag, options);
}

export function dateInWords(time: Date): string {
  return time.toLocaleString(tag === FIRST ? undefined : tag);
}

export function dayInWords(time: Date): string {
  return time.toLocaleDateString(tag === FIRST ? undefined : tag);
}

/** Compares names as people of this language sort them, numbers in them by their values. */
export function namesInOrder(): Intl.Collator {
  return new Intl.Collator(tag === FIRST ? undefined : tag, { numeric: true, sensitivity: 'base' });
}
