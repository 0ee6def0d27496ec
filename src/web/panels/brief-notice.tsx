// A notice that disappears automatically.
import type { Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

const BRIEF_MS = 8_000;

export function BriefNotice({ text }: { text: Signal<string> }) {
  const { value } = text;
  useEffect(() => {
    if (value === '') return;
    const timer = setTimeout(() => {
      text.value = '';
    }, BRIEF_MS);
    return () => clearTimeout(timer);
  }, [value, text]);
  return (
    <p class="notice" role="status">
      {value}
    </p>
  );
}
