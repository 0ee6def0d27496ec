// A line to copy.
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { WORDS } from '../words.ts';

/** Where there is no clipboard (pages over plain HTTP from another host have none), the line is selected, to be copied by hand. */
export function CopyLine({ label, text }: { label: string; text: string }) {
  const line = useRef<HTMLInputElement>(null);
  const isCopied = useSignal(false);
  const copy = async (): Promise<void> => {
    line.current?.select();
    if (navigator.clipboard) await navigator.clipboard.writeText(text);
    else document.execCommand('copy');
    isCopied.value = true;
  };
  return (
    <p class="copy-line">
      <label>
        <span>{label}</span> <input ref={line} readOnly value={text} />
      </label>{' '}
      <button type="button" onClick={() => void copy()}>
        {isCopied.value ? WORDS.node.copied : WORDS.node.copy}
      </button>
    </p>
  );
}
