// A text as a file of the person at the browser.
import { saveFile } from '../model/transfer/save-file.ts';

export function saveText(name: string, text: string): void {
  saveFile(name, new Blob([text], { type: 'text/plain' }));
}
