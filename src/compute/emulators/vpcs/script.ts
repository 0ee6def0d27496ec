// The start-up script of a virtual PC (startup.vpc), as text.

/** File name in the node's directory. */
export const STARTUP_SCRIPT = 'startup.vpc';

const SET_NAME = /^([ \t]*set[ \t]+pcname[ \t]+)[^\r\n]*/gim;

/** The first script of a node. `%h` in the template stands for the node's name. */
export function initialScript(template: string, name: string): string {
  return template.replaceAll('%h', () => name);
}

/**
 * The script after its node was renamed: replaces the name in `set pcname` lines, and where it is a separate word among
 * a command's arguments or in a comment.
 */
export function renameInScript(script: string, oldName: string, newName: string): string {
  const renamed = isSafeToReplace(oldName) ? replaceWord(script, oldName, newName) : script;
  return renamed.replace(SET_NAME, (_, command: string) => command + newName);
}

/** A name that reads as a number or an address would match addresses, masks and counts with another meaning. */
function isSafeToReplace(name: string): boolean {
  return name !== '' && !/^[\d.:a-f/]*$/i.test(name);
}

/** Replaces whole words only, except a line's command. */
function replaceWord(script: string, oldName: string, newName: string): string {
  const word = new RegExp(`(?<![\\w.:/-])${oldName.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}(?![\\w:/-])`, 'g');
  return script
    .split('\n')
    .map((line) => {
      const command = /^[ \t]*[^\s#;!]*/.exec(line)![0];
      return command + line.slice(command.length).replace(word, () => newName);
    })
    .join('\n');
}
