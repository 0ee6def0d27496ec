// Says that the lab just left will close, and offers to keep it open.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { forgetLeft, keepOpen, leftLab } from '../model/lab/leave-lab.ts';
import { attempted } from '../model/server/attempt.ts';
import { Button } from '../panels/button.tsx';
import { Countdown, Message } from '../panels/message.tsx';
import { WORDS } from '../words.ts';

const words = WORDS.page;

export function LeftLabNotice() {
  const message = useSignal('');
  const lab = leftLab.value;
  // Drop the message about another lab.
  useEffect(() => {
    message.value = '';
  }, [lab?.id, message]);
  return (
    <div class="notice" role="status" hidden={!lab}>
      {lab && (
        <>
          {words.leftLab(lab.name)} <Countdown until={lab.closesAt} words={words.secondsLeft} />{' '}
          <Button onClick={() => void attempted(message, () => keepOpen(lab))} text={words.keepLab} />{' '}
          <Button onClick={forgetLeft} text={words.letClose} /> <Message text={message.value} />
        </>
      )}
    </div>
  );
}
