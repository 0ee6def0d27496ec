// Asks before something that cannot be undone.
import { Asking } from '../labs/asking.tsx';
import { WORDS } from '../words.ts';
import { shownDialog } from './dialogs.tsx';

interface Question {
  title: string;
  text: string;
  /** What the button says that goes on. */
  verb: string;
}

/** Shows the question in a dialog. Resolves to whether to go on. */
export function confirmed({ title, text, verb }: Question): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (isConfirmed: boolean): void => {
      shownDialog.value = undefined;
      resolve(isConfirmed);
    };
    shownDialog.value = (
      <Asking title={title} verb={verb} isDangerous close={() => end(false)} submit={async () => end(true)}>
        <p>{text}</p>
      </Asking>
    );
  });
}

/** Asks before something is deleted. */
export function confirmRemoval(name: string, text: string): Promise<boolean> {
  const verb = WORDS.common.remove;
  return confirmed({ title: `${verb} ${name}`, text, verb });
}
