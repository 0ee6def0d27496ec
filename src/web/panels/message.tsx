// A sentence that says what went wrong, with what belongs to it: the number of the request, and when to try again.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { copyText } from '../model/browser/clipboard.ts';
import { lastRefusal } from '../model/server/api.ts';
import { WORDS } from '../words.ts';

const words = WORDS.message;

interface MessageProps {
  /** Nothing is shown for an empty text. */
  text: string;
  /** Asks for it once more: of what could not be read, which nobody asked for by a button. */
  again?: () => void;
}

export function Message({ text, again }: MessageProps) {
  const refusal = lastRefusal.value;
  const details = refusal && text !== '' && text.includes(refusal.message) ? refusal : undefined;
  return (
    <div class="message" role="alert">
      {text && <span>{text}</span>}
      {details?.again !== undefined && <Countdown key={details.again} until={details.again} />}
      {text && again && (
        <button type="button" onClick={again}>
          {WORDS.common.retry}
        </button>
      )}
      {details?.request && (
        <button type="button" class="quiet" title={words.copyHint} onClick={() => void copyText(details.request)}>
          {words.request} {details.request}
        </button>
      )}
    </div>
  );
}

function Countdown({ until }: { until: number }) {
  const left = useSignal(Math.ceil((until - Date.now()) / 1000));
  useEffect(() => {
    const timer = setInterval(() => {
      left.value = Math.ceil((until - Date.now()) / 1000);
      if (left.value <= 0) clearInterval(timer);
    }, 250);
    return () => clearInterval(timer);
  }, [until, left]);
  // Not a part of what is read aloud each time.
  return <span aria-live="off"> {left.value > 0 ? words.wait(left.value) : words.again}</span>;
}
