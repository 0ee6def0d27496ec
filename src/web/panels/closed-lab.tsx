// Shown for a lab that is not open: the reason, and a button to open it.
import type { Lab } from '../model/lab/lab.ts';
import { WORDS } from '../words.ts';
import { LabHeader } from './lab-header.tsx';
import { Link } from './link.tsx';
import { Message } from './message.tsx';
import { OpenButton } from './open-button.tsx';
import { Reading } from './reading.tsx';

interface ClosedLabProps {
  lab: Lab;
  attempt: (task: () => Promise<unknown>) => Promise<boolean>;
}

export function ClosedLab({ lab, attempt }: ClosedLabProps) {
  return (
    <div class="screen">
      <LabHeader lab={lab} />
      <main>
        <Message text={lab.message.value} />
        <Message text={lab.problem.value} again={() => lab.read()} />
        {lab.state.value === 'reading' && <Reading />}
        {lab.state.value === 'deleted' && (
          <div class="first">
            <p>{WORDS.lab.gone(lab.mayBeHidden)}</p>
            <Link to="/">{WORDS.labs.title}</Link>
          </div>
        )}
        {lab.state.value === 'closed' && (
          <div class="first">
            <p>{WORDS.lab.closed}</p>
            <OpenButton lab={lab} attempt={attempt} class="main" />
          </div>
        )}
      </main>
    </div>
  );
}
