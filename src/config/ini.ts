// Parses INI configuration files: sections in brackets, `key = value`, comments after # or ; at the start of a line.

/** One `key = value` and where it stands, for messages. */
export interface IniEntry {
  section: string;
  key: string;
  value: string;
  line: number;
}

export interface IniText {
  entries: IniEntry[];
  /** Invalid lines and why. */
  problems: { line: number; problem: string }[];
}

export function parseIni(text: string): IniText {
  const result: IniText = { entries: [], problems: [] };
  let section: string | undefined;
  text.split(/\r?\n/).forEach((raw, index) => {
    const line = index + 1;
    const content = raw.replace(/^\uFEFF/, '').trim();
    if (content === '' || content.startsWith('#') || content.startsWith(';')) return;
    const heading = /^\[([^\]]+)\]$/.exec(content);
    if (heading) {
      section = heading[1]?.trim();
      return;
    }
    const pair = /^([^=:\s]+)\s*[=:]\s*(.*)$/.exec(content);
    if (!pair) result.problems.push({ line, problem: `"${content}" is neither a [Section] nor "key = value"` });
    else if (section === undefined)
      result.problems.push({ line, problem: `"${pair[1]}" stands before the first [Section]` });
    else result.entries.push({ section, key: (pair[1] as string).toLowerCase(), value: pair[2] as string, line });
  });
  return result;
}
