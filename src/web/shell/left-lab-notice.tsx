// Says that the lab just left will close, and offers to keep it open.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { keepOpen, leftLab } from '../model/lab/leave-lab.ts';
import { attempted } from '../model/server/attempt.ts';
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
          <button type="button" onClick={() => void attempted(message, () => keepOpen(lab))}>
            {words.keepLab}
          </button>{' '}
          <button
            type="button"
            onClick={() => {
              leftLab.value = undefined;
            }}
          >
            {words.letClose}
          </button>{' '}
          <Message text={message.value} />
        </>
      )}
    </div>
  );
}
