// A dialog with a form. The input stays until submitting succeeds.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { sentenceOf } from '../model/server/sentence.ts';
import { Button } from '../panels/button.tsx';
import { Message } from '../panels/message.tsx';
import { Dialog } from '../shell/dialog.tsx';
import { WORDS } from '../words.ts';

interface AskingProps {
  title: string;
  verb: string;
  /** Whether it cannot be undone. */
  isDangerous?: boolean;
  close(): void;
  /** @param closed aborted when the dialog is closed, so that work on several things stops */
  submit(data: FormData, closed: AbortSignal): Promise<unknown>;
  children: ComponentChildren;
}

/** A dialog with a form; it stays open with all its input until `submit` succeeds. */
export function Asking({ title, verb, isDangerous = false, close, submit, children }: AskingProps) {
  const message = useSignal('');
  const isBusy = useSignal(false);
  const form = useRef<HTMLFormElement>(null);
  const closing = useMemo(() => new AbortController(), []);
  useEffect(() => () => closing.abort(), [closing]);
  const send = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (!form.current || isBusy.value) return;
    isBusy.value = true;
    message.value = '';
    try {
      await submit(new FormData(form.current), closing.signal);
      // The dialog may have been closed meanwhile.
      if (form.current) close();
    } catch (error) {
      message.value = sentenceOf(error);
      // The server's message starts with the rejected member.
      const field = /^([a-z_]+):/.exec(message.value)?.[1];
      form.current?.querySelector<HTMLInputElement>(`[name="${field}"]`)?.focus();
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <Dialog title={title} close={close}>
      <form class="asking" ref={form} onSubmit={(event) => void send(event)}>
        <h2>{title}</h2>
        {children}
        <Message text={message.value} />
        <div class="actions">
          <Button type="submit" class={isDangerous ? 'main danger' : 'main'} disabled={isBusy.value} text={verb} />
          <Button onClick={close} text={WORDS.common.cancel} />
        </div>
      </form>
    </Dialog>
  );
}
