// A sentence that says what went wrong, with the number of the request and when to try again; and notices that go away again.
import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { copyText } from '../model/browser/clipboard.ts';
import { lastRefusal } from '../model/server/api.ts';
import { WORDS } from '../words.ts';
import { Button } from './button.tsx';

const words = WORDS.message;
/** How long a brief notice stays. */
const BRIEF_MS = 8_000;

interface MessageProps {
  /** Nothing is shown for an empty text. */
  text: string;
  /** Retries reading data that was loaded automatically; nothing more is asked for until its promise settles, or for ten seconds. */
  again?: () => unknown;
  /** Removes a message that covers other content. */
  dismiss?: () => void;
}

export function Message({ text, again, dismiss }: MessageProps) {
  const refusal = lastRefusal.value;
  const details = refusal && text !== '' && text.includes(refusal.message) ? refusal : undefined;
  return (
    <div class="message" role="alert">
      {text && <span>{text}</span>}
      {details?.again !== undefined && (
        <>
          {' '}
          <Countdown until={details.again} words={(left) => (left > 0 ? words.wait(left) : words.again)} />
        </>
      )}
      {text && again && <Retry again={again} />}
      {text && dismiss && <Button class="quiet" onClick={dismiss} text={WORDS.tasks.dismiss} />}
      {details?.request && (
        <button type="button" class="quiet" title={words.copyHint} onClick={() => void copyText(details.request)}>
          {words.request} {details.request}
        </button>
      )}
    </div>
  );
}

/** A further click would drop the answer to the one before; a request that is not answered at all holds it up no longer than this. */
const RETRY_MS = 10_000;

/** The button keeps the focus meanwhile, which disabled ones lose. */
function Retry({ again }: { again: () => unknown }) {
  const isAsked = useSignal(false);
  const ask = async (): Promise<void> => {
    if (isAsked.value) return;
    isAsked.value = true;
    try {
      await Promise.race([again(), new Promise((resolve) => setTimeout(resolve, RETRY_MS))]);
    } finally {
      isAsked.value = false;
    }
  };
  return <Button aria-disabled={isAsked.value} onClick={() => void ask()} text={WORDS.common.retry} />;
}

/** Words with the seconds that are left, at least 0. */
export function Countdown({ until, words: inWords }: { until: number; words: (seconds: number) => string }) {
  const secondsLeft = (): number => Math.max(0, Math.ceil((until - Date.now()) / 1000));
  const left = useSignal(secondsLeft());
  useEffect(() => {
    const count = (): void => {
      left.value = secondsLeft();
      if (left.value === 0) clearInterval(timer);
    };
    const timer = setInterval(count, 250);
    count();
    return () => clearInterval(timer);
  }, [until, left]);
  // Not announced each second.
  return <span aria-live="off">{inWords(left.value)}</span>;
}

/** A notice that needs no answer and goes away after some seconds. */
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
