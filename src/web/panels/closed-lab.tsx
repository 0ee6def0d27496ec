// A lab that is not open: why, and the way to open it.
import { api } from '../model/api.ts';
import type { Lab } from '../model/lab.ts';
import { WORDS } from '../words.ts';
import { LabHeader } from './lab-header.tsx';

interface ClosedLabProps {
  lab: Lab;
  go: (path: string) => void;
  attempt: (task: () => Promise<unknown>) => Promise<boolean>;
}

/** What is shown of a lab that is not open. */
export function ClosedLab({ lab, go, attempt }: ClosedLabProps) {
  return (
    <div class="labs">
      <LabHeader lab={lab} go={go} />
      <main>
        <p class="message" role="alert">
          {lab.message}
        </p>
        {lab.state.value === 'deleted' && <p>{WORDS.lab.gone}</p>}
        {lab.state.value === 'closed' && (
          <p>
            {WORDS.lab.closed}{' '}
            <button
              type="button"
              onClick={() => void attempt(() => api.post(`${lab.path}/open`)).then(() => lab.read())}
            >
              {WORDS.common.open}
            </button>
          </p>
        )}
      </main>
    </div>
  );
}
