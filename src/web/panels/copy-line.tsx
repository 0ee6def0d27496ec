// A line with a copy button.
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { copyText } from '../model/browser/clipboard.ts';
import { WORDS } from '../words.ts';
import { Button } from './button.tsx';

/** Also selects the line, to copy by hand if the browser refuses. */
export function CopyLine({ label, text }: { label: string; text: string }) {
  const line = useRef<HTMLInputElement>(null);
  const isCopied = useSignal(false);
  const copy = async (): Promise<void> => {
    isCopied.value = await copyText(text);
    line.current?.select();
  };
  return (
    <p class="copy-line">
      <label>
        <span>{label}</span> <input ref={line} readOnly value={text} />
      </label>{' '}
      <Button onClick={() => void copy()} text={isCopied.value ? WORDS.node.copied : WORDS.node.copy} />
    </p>
  );
}
