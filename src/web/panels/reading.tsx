// Shows that data is loading, after a short delay.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { WORDS } from '../words.ts';

const SHORT_MS = 300;

export function Reading() {
  const isLong = useSignal(false);
  useEffect(() => {
    const timer = setTimeout(() => {
      isLong.value = true;
    }, SHORT_MS);
    return () => clearTimeout(timer);
  }, [isLong]);
  return (
    <p class="busy" role="status">
      {isLong.value && WORDS.page.reading}
    </p>
  );
}
