// What the command field offers, and which of it fits what was typed.

export interface Command {
  /** Of its own within its kind. */
  id: string;
  /** What people call things of its kind. */
  kind: string;
  text: string;
  /** That does the same without the field. */
  key?: string | undefined;
  run(): void;
}

/** How well a text fits: the beginning, the beginning of a word, somewhere, all letters in order; undefined for not at all. */
function rank(text: string, typed: string): number | undefined {
  const at = text.indexOf(typed);
  if (at === 0) return 0;
  if (at > 0) return /[\s/_-]/.test(text[at - 1] ?? '') ? 1 : 2;
  let from = 0;
  for (const letter of typed) {
    from = text.indexOf(letter, from) + 1;
    if (from === 0) return undefined;
  }
  return 3;
}

/** Those that fit, the best first; equally good ones stay in their order. All of them while nothing is typed. */
export function matching(commands: readonly Command[], typed: string): Command[] {
  const words = typed.trim().toLowerCase();
  if (words === '') return [...commands];
  return commands
    .flatMap((command) => {
      const found =
        rank(command.text.toLowerCase(), words) ?? (command.kind.toLowerCase().startsWith(words) ? 4 : undefined);
      return found === undefined ? [] : [{ command, found }];
    })
    .sort((one, other) => one.found - other.found)
    .map(({ command }) => command);
}
