// The page's language, and its formats for numbers, times and plurals. It is chosen once, before other modules start.
import { sentenceOf } from './model/server/sentence.ts';

/** A file of `languages/`: replaces the English `Words` of `words.ts` and `AuditWords` of `people/audit-words.ts`. */
interface Language {
  words(english: unknown): unknown;
  auditWords(english: unknown): unknown;
}

/** The language of the built-in texts. */
const FIRST = 'en';
/** Storage key for a language chosen instead of the browser's. */
const SETTING = 'language';

/** BCP 47 tag, for `lang` and `Intl`. */
let tag = FIRST;
let language: Language | undefined;
/** A language that exists but could not be loaded. */
let missing: string | undefined;
/** The bundler's error for a missing file. */
const NO_SUCH = /not found in bundle/;

/**
 * Chooses the language: `?language=` (remembered; an empty value forgets it), the remembered one, or the first available of the browser's
 * languages. English if it does not exist or fails to load; `missingLanguage` reports the latter.
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
    // The bundler makes a chunk of each file in the folder. For other names it throws at once, without a request.
    found = (await import(`./languages/${name}.ts`)) as Language;
  } catch (error) {
    if (!NO_SUCH.test(sentenceOf(error))) missing ??= name;
    return false;
  }
  language = found;
  tag = name;
  numbers.clear();
  plurals = undefined;
  order = undefined;
  return true;
}

function wantedOne(): string | undefined {
  const asked = new URLSearchParams(location.search).get(SETTING);
  try {
    if (asked) localStorage.setItem(SETTING, asked);
    else if (asked === '') localStorage.removeItem(SETTING);
    return asked ?? localStorage.getItem(SETTING) ?? undefined;
  } catch {
    // Without storage the choice lasts until the page is left.
    return asked ?? undefined;
  }
}

/** The name of a language that failed to load, in the page's language. */
export function missingLanguage(): string | undefined {
  if (missing === undefined || language !== undefined) return undefined;
  return new Intl.DisplayNames(tag, { type: 'language' }).of(missing) ?? missing;
}

/** A part of the texts in the chosen language. */
export function chosenWords<Words>(part: keyof Language, english: Words): Words {
  return language ? (language[part](english) as Words) : english;
}

/** By digits. Formats are expensive to make, and the map of a large lab has thousands of numbers. */
const numbers = new Map<number, Intl.NumberFormat>();
let plurals: Intl.PluralRules | undefined;

export function inNumbers(value: number, digits = 0): string {
  let format = numbers.get(digits);
  if (!format) {
    format = new Intl.NumberFormat(tag, { maximumFractionDigits: digits });
    numbers.set(digits, format);
  }
  return format.format(value);
}

/** The plural form for a number: English has `one` and `other`, other languages have more. */
export function plural(count: number, forms: Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }): string {
  plurals ??= new Intl.PluralRules(tag);
  return forms[plurals.select(count)] ?? forms.other;
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

/** Kept: with `localeCompare`, sorting 5,000 names takes 130 ms instead of 5. */
let order: Intl.Collator | undefined;

/** Compares names in the language's order, with numbers by value. */
export function compareNames(one: string, other: string): number {
  order ??= new Intl.Collator(tag === FIRST ? undefined : tag, { numeric: true, sensitivity: 'base' });
  return order.compare(one, other);
}
