// `labwired lab notes`: shows or writes the notes of a lab.
import { harmlessLines } from '../../host/terminal/terminal-text.ts';
import { verb } from '../frame/command.ts';
import { textOfFile } from '../terminal/files.ts';

export const notesVerb = verb({
  name: 'notes',
  words: ['LAB'],
  summary: 'shows its notes, such as instructions, or writes them from a file',
  flags: {
    from: { value: 'FILE', summary: 'the new notes, Markdown; - is standard input' },
  },
  run: async (session, [wanted], { from }) => {
    const lab = await session.labNamed(wanted);
    const path = `/v2/projects/${lab.project_id}/notes`;
    if (from !== undefined) {
      const text = await textOfFile(from);
      await session.api.request('PUT', path, { text });
      session.tell(`Notes of lab "${lab.name}" written.`, lab.project_id, { project_id: lab.project_id, text });
      return;
    }
    const notes = await session.api.get<{ text: string }>(path);
    if (session.json) session.printJson(notes);
    else if (notes.text === '') session.remark(`Lab "${lab.name}" has no notes.`);
    else session.print(process.stdout.isTTY ? shown(notes.text) : notes.text);
  },
});

/** For a terminal, which would interpret other control characters. */
function shown(text: string): string {
  return harmlessLines(text.replaceAll('\r', '').replaceAll('\t', '    '));
}
