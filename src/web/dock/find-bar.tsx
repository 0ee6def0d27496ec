// Finds text in the output of a console.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Button } from '../panels/button.tsx';
import { WORDS } from '../words.ts';

const words = WORDS.console;

interface FindBarProps {
  find(text: string, direction: 'next' | 'previous'): boolean;
  close(): void;
}

export function FindBar({ find, close }: FindBarProps) {
  const field = useRef<HTMLInputElement>(null);
  const isMissing = useSignal(false);
  useEffect(() => field.current?.focus(), []);
  const look = (direction: 'next' | 'previous'): void => {
    const text = field.current?.value ?? '';
    isMissing.value = text !== '' && !find(text, direction);
  };
  return (
    <form
      class="find"
      onSubmit={(event) => {
        event.preventDefault();
        look('previous');
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        close();
      }}
    >
      <input type="search" ref={field} aria-label={words.findIn} autocomplete="off" />
      <Button type="submit" text={words.previous} />
      <Button onClick={() => look('next')} text={words.next} />
      <Button aria-label={`${WORDS.common.close} ${words.find}`} onClick={close} text="×" />
      <span role="status">{isMissing.value ? words.notFound : ''}</span>
    </form>
  );
}
