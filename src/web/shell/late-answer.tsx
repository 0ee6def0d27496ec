// Says that the server is slow to answer, and offers to stop waiting.
import { stopWaiting, unanswered } from '../model/server/api.ts';
import { Button } from '../panels/button.tsx';
import { WORDS } from '../words.ts';

export function LateAnswer() {
  return (
    <div class="notice" role="status" hidden={unanswered.value === 0}>
      {unanswered.value > 0 && (
        <>
          {WORDS.message.late} <Button onClick={stopWaiting} text={WORDS.message.stopWaiting} />
        </>
      )}
    </div>
  );
}
