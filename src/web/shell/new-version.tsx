// Says that the server has another page meanwhile. It is never loaded by itself: consoles may hold text.
import { isOutdated } from '../model/version.ts';
import { WORDS } from '../words.ts';

export function NewVersion() {
  return (
    <div class="notice" role="status" hidden={!isOutdated.value}>
      {isOutdated.value && (
        <>
          {WORDS.page.newVersion}{' '}
          <button type="button" onClick={() => location.reload()}>
            {WORDS.page.reload}
          </button>
        </>
      )}
    </div>
  );
}
