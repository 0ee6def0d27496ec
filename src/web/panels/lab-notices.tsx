// What is to be said of a lab as a whole: a refusal, what came while the connection was away, and that somebody closed it.

import { useEffect } from 'preact/hooks';
import type { LabContext } from '../lab-context.ts';
import { timeInWords } from '../language.ts';
import { WORDS } from '../words.ts';
import { Link } from './link.tsx';
import { Message } from './message.tsx';
import { OpenButton } from './open-button.tsx';

/** A notice that asks for nothing goes by itself. */
const BRIEF_MS = 8_000;

export function LabNotices({ context }: { context: LabContext }) {
  const { lab, attempt } = context;
  const notice = lab.notice.value;
  useEffect(() => {
    if (notice === '') return;
    const timer = setTimeout(() => {
      lab.notice.value = '';
    }, BRIEF_MS);
    return () => clearTimeout(timer);
  }, [notice, lab]);
  const time = timeInWords(new Date(lab.endedAt.value), { hour: '2-digit', minute: '2-digit' });
  return (
    <>
      {lab.whyNotChange !== '' && (
        <section class="notice watching" aria-label={WORDS.may.title}>
          {lab.whyNotChange}
        </section>
      )}
      <div class="notices">
        <Message text={lab.message.value} />
        <Message text={lab.problem.value} again={() => void lab.read()} />
        <p class="notice" role="status">
          {notice}
        </p>
        {lab.endedAt.value > 0 && (
          <p class="notice" role="alert">
            {lab.state.value === 'deleted' ? (
              <>
                {WORDS.lab.gone} <Link to="/">{WORDS.labs.title}</Link>
              </>
            ) : (
              <>
                {WORDS.lab.closed} {WORDS.lab.closedAt(time)} <OpenButton lab={lab} attempt={attempt} />
              </>
            )}
          </p>
        )}
      </div>
    </>
  );
}
