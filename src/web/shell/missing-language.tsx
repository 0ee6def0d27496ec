// Says that the page's language could not be loaded, and offers a retry.
import { useSignal } from '@preact/signals';
import { missingLanguage } from '../language.ts';
import { setTo } from '../model/browser/signal-handlers.ts';
import { Button } from '../panels/button.tsx';
import { WORDS } from '../words.ts';

const words = WORDS.page;

export function MissingLanguage() {
  const name = useSignal(missingLanguage());
  return (
    <div class="notice" role="status" hidden={name.value === undefined}>
      {name.value !== undefined && (
        <>
          {words.noLanguage(name.value)} <Button onClick={() => location.reload()} text={words.reload} />{' '}
          <Button onClick={setTo(name, undefined)} text={words.stayEnglish} />
        </>
      )}
    </div>
  );
}
