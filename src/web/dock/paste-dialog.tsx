// Shows text before it is pasted, at once or line by line.
import { useRef } from 'preact/hooks';
import { Button } from '../panels/button.tsx';
import { Dialog } from '../shell/dialog.tsx';
import { WORDS } from '../words.ts';

const words = WORDS.console;

interface PasteDialogProps {
  /** The clipboard's text, if the page may read it. */
  text: string;
  paste(text: string, isSlow: boolean): void;
  close(): void;
}

export function PasteDialog({ text, paste, close }: PasteDialogProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const go = (isSlow: boolean): void => paste(field.current?.value ?? '', isSlow);
  return (
    <Dialog title={words.paste} close={close}>
      <label>
        {words.pasteHere}
        <textarea ref={field} rows={10} defaultValue={text} spellcheck={false} />
      </label>
      <p class="tools">
        <Button onClick={() => go(false)} text={words.pasteNow} />
        <Button onClick={() => go(true)} text={words.pasteSlowly} />
        <Button onClick={close} text={WORDS.common.cancel} />
      </p>
    </Dialog>
  );
}
