// Asks before a link of a console is opened, and shows where it leads.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { copyText } from '../model/browser/clipboard.ts';
import { Button } from '../panels/button.tsx';
import { WORDS } from '../words.ts';

const words = WORDS.console;

export function LinkDialog({ address, close }: { address: string; close(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    // Only a dialog that is closed gives the focus back.
    return () => shown?.close();
  }, []);
  const isWeb = /^https?:\/\//i.test(address);
  return (
    <dialog ref={dialog} onClose={close} aria-label={words.openLink}>
      <p>{words.openLink}</p>
      <p class="address">
        <bdi>{address}</bdi>
      </p>
      <p class="tools">
        {isWeb && (
          <Button
            onClick={() => {
              window.open(address, '_blank', 'noopener,noreferrer');
              close();
            }}
            text={WORDS.common.open}
          />
        )}
        <Button onClick={() => void copyText(address).then(close)} text={words.copy} />
        <Button onClick={close} text={WORDS.common.cancel} />
      </p>
    </dialog>
  );
}
