// Says that the server has a newer page, or that a part of this one is still loading. Never reloads automatically, because consoles may
// hold text.
import { awaitedParts } from '../model/server/lazy-load.ts';
import { isOutdated } from '../model/server/page-version.ts';
import { Button } from '../panels/button.tsx';
import { WORDS } from '../words.ts';

export function NewVersion() {
  return (
    <div class="notice" role="status" hidden={!isOutdated.value && awaitedParts.value === 0}>
      {!isOutdated.value && awaitedParts.value > 0 && WORDS.page.partAwaited}
      {isOutdated.value && (
        <>
          {WORDS.page.newVersion} <Button onClick={() => location.reload()} text={WORDS.page.reload} />
        </>
      )}
    </div>
  );
}
