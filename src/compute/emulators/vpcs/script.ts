// The start-up script of a virtual PC (startup.vpc), as text.
import { replaceWord } from '../../nodes/renaming.ts';

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
  const renamed = script
    .split('\n')
    .map((line) => {
      const command = /^[ \t]*[^\s#;!]*/.exec(line)![0];
      return command + replaceWord(line.slice(command.length), oldName, newName);
    })
    .join('\n');
  return renamed.replace(SET_NAME, (_, command: string) => command + newName);
}
