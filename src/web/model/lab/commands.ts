// Commands of the command field, and matching them to the input.

export interface Command {
  /** Unique within its kind. */
  id: string;
  /** The name of its kind for users. */
  kind: string;
  text: string;
  /** Keyboard shortcut of the command. */
  key?: string | undefined;
  run(): void;
}

/** How well a text matches: prefix, start of a word, substring, all letters in order; undefined if not at all. */
export function rank(text: string, typed: string): number | undefined {
  const at = text.indexOf(typed);
  if (at === 0) return 0;
  if (at > 0) return /[\s/._-]/.test(text[at - 1] ?? '') ? 1 : 2;
  let from = 0;
  for (const letter of typed) {
    from = text.indexOf(letter, from) + 1;
    if (from === 0) return undefined;
  }
  return 3;
}

/** The matching commands, best first; equal ones keep their order. All of them for empty input. */
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
