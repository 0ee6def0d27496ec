// Notices of every screen, also shown in open dialogs.
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
