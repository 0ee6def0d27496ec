// The notes of a lab, such as a teacher's instructions: shown as Markdown, edited as text.
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { LabContext } from '../lab-context.ts';
import { setTo } from '../model/browser/signal-handlers.ts';
import { draftOf } from '../model/lab/file-drafts.ts';
import type { Lab } from '../model/lab/lab.ts';
import { api } from '../model/server/api.ts';
import { useLoaded } from '../model/server/loaded.ts';
import { Button } from '../panels/button.tsx';
import { FileEditor, mayChange, type TextFile } from '../panels/inspector/file-editor.tsx';
import { lazily } from '../panels/lazy-component.tsx';
import { Message } from '../panels/message.tsx';
import { WORDS } from '../words.ts';

const words = WORDS.notes;

const Markdown = lazily(async () => (await import('./markdown.tsx')).Markdown);

function notesOf(lab: Lab): TextFile {
  const path = `${lab.path}/notes`;
  return {
    title: words.title,
    path,
    back: words.back,
    isProse: true,
    read: async () => (await api.get<{ text: string }>(path)).text,
    write: (text) => api.put(path, { text }),
    isAbout: ({ path: changed }) => changed === 'README.txt',
  };
}

export function Notes({ context: { lab } }: { context: LabContext }) {
  const file = useMemo(() => notesOf(lab), [lab]);
  const isEdited = useSignal(draftOf(file.path) !== undefined);
  const { value, problem, again } = useLoaded(() => file.read(), [file]);
  useEffect(
    () =>
      lab.hear((message) => {
        if (mayChange(file, message)) again();
      }),
    [lab, file, again],
  );
  const text = value.value;
  if (isEdited.value)
    return (
      <section class="notes" aria-label={words.title}>
        <p class="hint">{words.hint}</p>
        <FileEditor
          lab={lab}
          file={file}
          close={() => {
            isEdited.value = false;
            again();
          }}
        />
      </section>
    );
  const edit = (title: string) =>
    lab.whyNotChange === '' && <Button disabled={!lab.canAsk} onClick={setTo(isEdited, true)} text={title} />;
  if (text === undefined || problem.value !== '') return <Message text={problem.value} again={again} />;
  if (text.trim() === '') return edit(words.write) || null;
  return (
    <section class="notes" aria-label={words.title}>
      <Markdown text={text} />
      {edit(words.edit)}
    </section>
  );
}
