// Texts for the settings that only nodes of VPCS have; loaded only for the API document.
import { type GroupedWords, words } from './words.ts';

export const vpcsWords: GroupedWords = {
  Machine: {
    base_script_file: words('Start-up script', 'File among the configurations that new PCs begin with.'),
    startup_script: words('Start-up script', 'Commands that the PC runs when it starts.', { lines: true }),
  },
};
