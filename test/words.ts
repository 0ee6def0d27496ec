// The words of the old style, and where a text still has one: in what people read of the source, in documents and in names of tests.

/** A word or turn of the old style, and what to write instead. */
interface OldWord {
  pattern: RegExp;
  instead: string;
}

const old = (pattern: RegExp, instead: string): OldWord => ({ pattern, instead });

/** What is wrong in anything that a person reads. */
export const OLD_WORDS: readonly OldWord[] = [
  old(/\banew\b|\bafresh\b/gi, '"again", "recreate"'),
  old(
    /\b(whoever|nobody|nobody's|somebody|somebody's)\b(?! has it open)/gi,
    'the role: "no client", "another user", "everyone"',
  ),
  old(/\b(he|him|his)\b/gi, '"the user", "they"'),
  old(/\bwhose (it|they|he|each \w+) (is|are)\b/gi, '"the owner of"'),
  old(
    /\b(is|are|has|have) none of\b|\b(that|which|it|bytes|status) (is|are) none\b|\bis no such server\b/gi,
    '"is not a ...", "has no ..."',
  ),
  old(
    /\b(tells|told|telling)\b|\b(does|do|did|should|to) (not )?tell\b/gi,
    '"reports", "answers"; of properties "read-only"',
  ),
  old(/\bhindrances?\b/gi, '"unavailable", "unavailable reason"'),
  old(/\bin vain\b/gi, '"without success", "failed"'),
  old(/\bmakes? no sense\b|\bsenseless\b/gi, '"is invalid"'),
  old(
    /\b(takes?|taken|took|taking) ((it|them|\w+s) )?back\b|\b(be|is|are) taken up\b/gi,
    '"reattach", "roll back" or "cancel"',
  ),
  old(/\b(lets?|letting) ((it|them|nobody|clients|this server) )?in\b/gi, '"accepts", "authenticates"'),
  old(/\bwhat (was|is) asked (for|of)\b/gi, '"pending", "the request"'),
  old(/\b(lacks?|lacking)\b/gi, '"has no", "is missing"'),
  old(/\b(befalls?|foresees?|foreseen|stubborn|furnish(es)?|loosens?|insists?|farewells?)\b/gi, 'a plain verb'),
  old(
    /\b(that|what|which|who) (is|are|was|were) (not )?there\b|\b(is|are|was|were) not there\b/gi,
    '"existing", "missing"',
  ),
  old(/\bbut for\b/gi, '"except"'),
];

/** Old names; searched in code, too. */
export const OLD_NAMES: readonly OldWord[] = [
  old(/\b(hindranceOf|hindrancesOf|Hindrance|HINDRANCE)\b/g, '`unavailableReason`, `unavailableKinds`'),
  old(/\btakeBack\w*/g, '`reattach`, `rollBack`, `cancel`'),
  old(/\bforese\w*/g, '`predict`'),
  old(
    /\b(mustBeSound|furnish|loosen|insist|areApart|whereItWouldBe|wayBelow|entranceOf|hearsPassing|stubborn)\b/g,
    'a verb',
  ),
  old(/\b(Farewells|NotLetIn|Overtaken|NodeEnd|Traces)\b/g, 'a noun of the glossary'),
];

/** Comments and texts of a source file, with the number of the first line of each. */
export function textsOf(source: string): { line: number; text: string }[] {
  const texts = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g;
  return [...source.matchAll(texts)].map(({ 0: text, index }) => ({
    line: source.slice(0, index).split('\n').length,
    text: text.replace(/\$\{[^{}]*\}|\{@link [^}]*\}/g, (code) => code.replace(/[^\n]/g, '-')),
  }));
}

/** The names that a test file gives its tests, with the number of their lines. */
export function testNamesOf(source: string): { line: number; text: string }[] {
  const names = /\b(?:test|suite|describe|it)(?:\.\w+)?\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/g;
  return [...source.matchAll(names)].map(({ 2: text = '', index }) => ({
    line: source.slice(0, index).split('\n').length,
    text: text.replace(/\$\{[^{}]*\}/g, '-'),
  }));
}
