// Notices of every screen, also shown in open dialogs.
import { signal } from '@preact/signals';
import { pageNotice } from '../model/browser/page-notice.ts';
import { BriefNotice } from '../panels/message.tsx';
import { LateAnswer } from './late-answer.tsx';

/** Open dialogs that show the notices. */
export const openDialogs = signal(0);

/** The notices over the page; an open dialog shows the same. */
export function Toast() {
  return (
    <div class="toast" hidden={openDialogs.value > 0}>
      <Notices />
    </div>
  );
}

export function Notices() {
  return (
    <>
      <LateAnswer />
      <BriefNotice text={pageNotice} />
    </>
  );
}
