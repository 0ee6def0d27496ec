// Notices about the whole lab: errors, the result of a reconnect, and that another client closed it.

import type { LabContext } from '../lab-context.ts';
import { timeInWords } from '../language.ts';
import { setTo } from '../model/browser/signal-handlers.ts';
import { WORDS } from '../words.ts';
import { Link } from './link.tsx';
import { BriefNotice, Message } from './message.tsx';
import { OpenButton } from './open-button.tsx';
import { VerbButton } from './verb-button.tsx';

export function LabNotices({ context }: { context: LabContext }) {
  const { lab, attempt } = context;
  lab.changes.value; // things are locked and unlocked meanwhile
  const { isLocked } = lab;
  const time = timeInWords(new Date(lab.endedAt.value), { hour: '2-digit', minute: '2-digit' });
  return (
    <>
      {(lab.whyNotChange !== '' || isLocked) && (
        <section class="notice watching" aria-label={WORDS.may.title}>
          {lab.whyNotChange} {isLocked && WORDS.lab.isLocked}{' '}
          {isLocked && <VerbButton context={context} id="lab.lock" />}
        </section>
      )}
      <div class="notices">
        <Message text={lab.message.value} dismiss={setTo(lab.message, '')} />
        <Message text={lab.problem.value} again={() => lab.read()} />
        <BriefNotice text={lab.notice} />
        {lab.endedAt.value > 0 && (
          <p class="notice" role="alert">
            {lab.state.value === 'deleted' && (
              <>
                {WORDS.lab.gone(lab.mayBeHidden)} <Link to="/">{WORDS.labs.title}</Link>
              </>
            )}
            {lab.state.value === 'refused' && WORDS.lab.refused(time)}
            {lab.state.value === 'closed' && (
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
