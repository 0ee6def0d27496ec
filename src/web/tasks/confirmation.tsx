// Asks before something that cannot be undone.
import { Asking } from '../labs/asking.tsx';

export interface Question {
  title: string;
  text: string;
  /** What the button says that goes on. */
  verb: string;
}

interface ConfirmationProps extends Question {
  /** Closes the question. */
  end(isConfirmed: boolean): void;
}

export function Confirmation({ title, text, verb, end }: ConfirmationProps) {
  return (
    <Asking title={title} verb={verb} isDangerous close={() => end(false)} submit={async () => end(true)}>
      <p>{text}</p>
    </Asking>
  );
}
