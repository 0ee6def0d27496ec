// An editor for a text file of a lab or a node.
import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { storeIn } from '../../model/browser/signal-handlers.ts';
import { draftOf, draftWritten, keepDraft } from '../../model/lab/file-drafts.ts';
import type { Lab } from '../../model/lab/lab.ts';
import { attempted } from '../../model/server/attempt.ts';
import type { Message as EventMessage } from '../../model/server/types.ts';
import { confirmed } from '../../tasks/dialogs.tsx';
import { WORDS } from '../../words.ts';
import { Button } from '../button.tsx';
import { Message } from '../message.tsx';

const words = WORDS.node;

/** A file that is edited as text. */
export interface TextFile {
  title: string;
  /** Its path in the API. */
  path: string;
  /** What the button says that leaves the editor. */
  back: string;
  /** Long lines are wrapped, and have no numbers. */
  isProse?: boolean;
  /** Its content, empty if it is missing; undefined if it is not text or too long. */
  read(): Promise<string | undefined>;
  write(text: string): Promise<unknown>;
  /** Whether the event of a changed file is about this one. */
  isAbout(event: Readonly<Record<string, unknown>>): boolean;
}

/** Whether the file may be another one after this event. */
export function mayChange(file: TextFile, { action, event }: EventMessage): boolean {
  if (action === 'snapshot.restored' || action === 'notifications.gap') return true;
  return action.startsWith('file.') && file.isAbout(event);
}

interface FileEditorProps {
  lab: Lab;
  file: TextFile;
  close: () => void;
}

export function FileEditor({ lab, file, close }: FileEditorProps) {
  const draft = draftOf(file.path);
  /** Content as last read or written, with line feeds only as in a textarea; undefined while it is read. */
  const base = useSignal(draft?.base);
  const text = useSignal(draft?.text ?? '');
  useSignalEffect(() => keepDraft(file.path, base.value, text.value));
  const message = useSignal('');
  /** Content written by someone else since. */
  const theirs = useSignal<string | undefined>(undefined);
  const isText = useSignal(true);
  const isBusy = useSignal(false);
  const lineEnd = useRef('\n');
  const isSaved = useSignal(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const attempt = async (task: () => Promise<void>): Promise<void> => {
    isSaved.value = false;
    isBusy.value = true;
    await attempted(message, task);
    isBusy.value = false;
  };
  const readNow = async (): Promise<string | undefined> => {
    const now = await file.read();
    isText.value = now !== undefined;
    if (now === undefined) return undefined;
    lineEnd.current = lineEndOf(now);
    return now.replaceAll(/\r\n?/g, '\n');
  };
  /** Reads the file: replaces the text if there is no input, otherwise offers both versions. */
  const look = async (): Promise<void> => {
    const now = await readNow();
    if (now === undefined) theirs.value = undefined;
    else if (base.value === undefined || text.value === base.value || text.value === now) {
      base.value = now;
      text.value = now;
    } else if (now !== base.value && now !== text.value) theirs.value = now;
  };
  const latest = useRef(look);
  latest.current = look;
  const begin = (): void => void attempt(() => latest.current());
  useEffect(() => {
    begin();
    return lab.hear((message) => {
      if (mayChange(file, message)) void latest.current().catch(() => {});
    });
  }, [lab, file]);

  const write = async (): Promise<void> => {
    const mine = text.value;
    await file.write(mine.replaceAll('\n', lineEnd.current));
    // The editor may be gone, and its signals with it.
    draftWritten(file.path, mine);
    base.value = mine;
    theirs.value = undefined;
    isSaved.value = true;
  };
  const save = (): Promise<void> =>
    attempt(async () => {
      // The file may have changed before its event arrived.
      const now = await readNow();
      if (now === undefined) theirs.value = undefined;
      else if (now !== base.value && now !== text.value) theirs.value = now;
      else await write();
    });
  const isReadOnly = lab.whyNotChange !== '';
  const isChanged = base.value !== undefined && text.value !== base.value;
  const leave = async (): Promise<void> => {
    const question = { title: file.back, text: words.askLeave, verb: words.leave };
    if (isChanged && !(await confirmed(question))) return;
    keepDraft(file.path, undefined, '');
    close();
  };
  return (
    <div class="file">
      <p class="tools">
        <Button onClick={() => void leave()} text={file.back} />
        {!isReadOnly && (
          <>
            <Button
              class="main"
              disabled={!isChanged || isBusy.value}
              onClick={() => void save()}
              text={WORDS.forms.save}
            />
            <Button
              disabled={!isChanged}
              onClick={() => {
                text.value = base.value ?? '';
              }}
              text={WORDS.forms.discard}
            />
          </>
        )}
      </p>
      <h3>{file.title}</h3>
      <p role="status">{isSaved.value && !isChanged && words.saved}</p>
      <Message text={message.value} {...(base.value === undefined && { again: begin })} />
      {theirs.value !== undefined && (
        <p class="foreign" role="alert">
          {words.foreignFile}{' '}
          <Button
            onClick={() => {
              base.value = theirs.value;
              text.value = theirs.value ?? '';
              theirs.value = undefined;
            }}
            text={words.loadTheirs}
          />{' '}
          <Button onClick={() => void attempt(write)} text={words.saveMine} />
        </p>
      )}
      {!isText.value && <p role="alert">{base.value === undefined ? words.noText : words.noTextNow}</p>}
      {base.value !== undefined && (
        <>
          <Find area={area} />
          <div class="lines">
            {!file.isProse && <pre aria-hidden="true">{lineNumbers(text.value)}</pre>}
            <textarea
              ref={area}
              aria-label={words.content(file.title)}
              value={text.value}
              readOnly={isReadOnly}
              spellcheck={file.isProse === true}
              autocomplete="off"
              wrap={file.isProse ? 'soft' : 'off'}
              rows={Math.min(24, Math.max(8, text.value.split('\n').length))}
              onInput={storeIn(text)}
              onScroll={({ currentTarget }) => {
                const numbers = currentTarget.previousElementSibling;
                if (numbers) numbers.scrollTop = currentTarget.scrollTop;
              }}
              onKeyDown={(event) => {
                if ((event.ctrlKey || event.metaKey) && event.key === 's') {
                  event.preventDefault();
                  if (!isReadOnly) void save();
                }
              }}
            />
          </div>
        </>
      )}
    </div>
  );
}

/** What all lines end with; files with different ends get line feeds. */
function lineEndOf(text: string): string {
  return text.includes('\r\n') && !/\r(?!\n)|(?<!\r)\n/.test(text) ? '\r\n' : '\n';
}

function lineNumbers(text: string): string {
  return Array.from({ length: text.split('\n').length }, (_, index) => index + 1).join('\n');
}

/** Searches the text from the cursor on. */
function Find({ area }: { area: { current: HTMLTextAreaElement | null } }) {
  const wanted = useSignal('');
  const isMissing = useSignal(false);
  const find = (): void => {
    const element = area.current;
    if (!element || wanted.value === '') return;
    const text = element.value.toLowerCase();
    const word = wanted.value.toLowerCase();
    const at = text.indexOf(word, element.selectionEnd);
    const found = at < 0 ? text.indexOf(word) : at;
    isMissing.value = found < 0;
    if (found < 0) return;
    element.focus();
    element.setSelectionRange(found, found + word.length);
    const line = text.slice(0, found).split('\n').length - 1;
    element.scrollTop = (line / text.split('\n').length) * element.scrollHeight - element.clientHeight / 2;
  };
  return (
    <p class="tools">
      <label>
        {words.find}{' '}
        <input
          type="search"
          autocomplete="off"
          onInput={({ currentTarget }) => {
            wanted.value = currentTarget.value;
            isMissing.value = false;
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return;
            // Enter would replace the match, which then has the focus.
            event.preventDefault();
            find();
          }}
        />
      </label>
      <Button onClick={find} text={words.next} />
      <span role="status">{isMissing.value && words.notFound}</span>
    </p>
  );
}
