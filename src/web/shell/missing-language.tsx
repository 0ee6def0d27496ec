// Says that the page's language could not be loaded, and offers a retry.
import { useSignal } from '@preact/signals';
import { missingLanguage } from '../language.ts';
import { WORDS } from '../words.ts';

const words = WORDS.page;

export function MissingLanguage() {
  const name = useSignal(missingLanguage());
  return (
    <div class="notice" role="status" hidden={name.value === undefined}>
      {name.value !== undefined && (
        <>
          {words.noLanguage(name.value)}{' '}
          <button type="button" onClick={() => location.reload()}>
            {words.reload}
          </button>{' '}
          <button
            type="button"
            onClick={() => {
              name.value = undefined;
            }}
          >
            {words.stayEnglish}
          </button>
        </>
      )}
    </div>
  );
}
