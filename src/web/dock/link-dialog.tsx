// Asks before a link of a console is opened, and shows where it leads.
import { copyText } from '../model/browser/clipboard.ts';
import { Button } from '../panels/button.tsx';
import { Dialog } from '../shell/dialog.tsx';
import { WORDS } from '../words.ts';

const words = WORDS.console;

export function LinkDialog({ address, close }: { address: string; close(): void }) {
  const isWeb = /^https?:\/\//i.test(address);
  return (
    <Dialog title={words.openLink} close={close}>
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
    </Dialog>
  );
}
