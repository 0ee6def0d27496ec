// A button for a verb.
import type { LabContext } from '../lab-context.ts';
import { fits, isUsable, labVerb, wordsOf } from '../verbs.ts';

interface VerbButtonProps {
  context: LabContext;
  /** Of the verb. */
  id: string;
  /** For verbs that switch something on. */
  isPressed?: boolean;
}

/** Nothing while what the verb is for is not selected. */
export function VerbButton({ context, id, isPressed }: VerbButtonProps) {
  const verb = labVerb(id);
  if (!fits(verb, context)) return null;
  return (
    <button
      type="button"
      disabled={!isUsable(verb, context)}
      aria-pressed={isPressed}
      title={verb.keys?.[0]}
      onClick={() => verb.run(context)}
    >
      {wordsOf(verb, context)}
    </button>
  );
}
