// Says that the lab just left will close, and offers to keep it open.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { setTo } from '../model/browser/signal-handlers.ts';
import { keepOpen, leftLab } from '../model/lab/leave-lab.ts';
import { attempted } from '../model/server/attempt.ts';
import { Button } from '../panels/button.tsx';
import { Message } from '../panels/message.tsx';
import { WORDS } from '../words.ts';

const words = WORDS.page;

export function LeftLabNotice() {
  const message = useSignal('');
  const lab = leftLab.value;
  // Drop the message about another lab.
  useEffect(() => {
    message.value = '';
  }, [lab, message]);
  return (
    <div class="notice" role="status" hidden={!lab}>
      {lab && (
        <>
          {words.leftLab(lab.name)}{' '}
          <Button onClick={() => void attempted(message, () => keepOpen(lab))} text={words.keepLab} />{' '}
          <Button onClick={setTo(leftLab, undefined)} text={words.letClose} /> <Message text={message.value} />
        </>
      )}
    </div>
  );
}
