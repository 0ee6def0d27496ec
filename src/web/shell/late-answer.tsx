// Says that the server takes long to answer, and lets whoever has asked for something have their form back.
import { stopWaiting, unanswered } from '../model/server/api.ts';
import { WORDS } from '../words.ts';

export function LateAnswer() {
  return (
    <div class="notice" role="status" hidden={unanswered.value === 0}>
      {unanswered.value > 0 && (
        <>
          {WORDS.message.late}{' '}
          <button type="button" onClick={stopWaiting}>
            {WORDS.message.stopWaiting}
          </button>
        </>
      )}
    </div>
  );
}
