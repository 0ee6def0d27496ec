// What is said on every screen, and in a window that is open upon it.
import { labNotice } from '../model/lab/taken-names.ts';
import { BriefNotice } from '../panels/message.tsx';
import { LateAnswer } from './late-answer.tsx';

export function Notices() {
  return (
    <>
      <LateAnswer />
      <BriefNotice text={labNotice} />
    </>
  );
}
