// The start-up script of a virtual PC (startup.vpc), as text.

/** File name in the node's directory. */
export const STARTUP_SCRIPT = 'startup.vpc';

const SET_NAME = /^([ \t]*set[ \t]+pcname[ \t]+)[^\r\n]*/gim;

/** The first script of a node: `%h` in the template stands for the node's name. */
export function initialScript(template: string, name: string): string {
  return template.replaceAll('%h', () => name);
}

/**
 * The script after its node was renamed: `set pcname` lines get the new name, and so does the old name where it stands as
 * a word of its own among a command's arguments or in a comment.
 */
export function renameInScript(script: string, oldName: string, newName: string): string {
  const renamed = isSafeToReplace(oldName) ? replaceWord(script, oldName, newName) : script;
  return renamed.replace(SET_NAME, (_, command: string) => command + newName);
}

/** A name that reads as a number or an address would be found in addresses, masks and counts that mean something else. */
function isSafeToReplace(name: string): boolean {
  return name !== '' && !/^[\d.:a-f/]*$/i.test(name);
}

/** Replaces what is neither part of a longer word nor a line's command. */
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
