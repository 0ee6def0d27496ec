// A dialog whose question is shown once the server has answered.
import { Message } from '../panels/message.tsx';
import { Reading } from '../panels/reading.tsx';
import { Dialog } from '../shell/dialog.tsx';

interface ReadingDialogProps {
  title: string;
  /** Why it cannot be read; empty while it is being read. */
  problem: string;
  again(): Promise<void>;
  close(): void;
}

export function ReadingDialog({ title, problem, again, close }: ReadingDialogProps) {
  return (
    <Dialog title={title} close={close}>
      <h2>{title}</h2>
      {problem === '' ? <Reading /> : <Message text={problem} again={again} />}
    </Dialog>
  );
}
