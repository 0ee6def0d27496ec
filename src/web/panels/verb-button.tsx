// A button for a verb.
import { Icon } from '../icons.tsx';
import type { LabContext } from '../lab-context.ts';
import { fits, isDangerous, isUsable, labVerb, whyNotUse, wordsOf } from '../verbs.ts';

interface VerbButtonProps {
  context: LabContext;
  /** Of the verb. */
  id: string;
  /** For verbs that switch something on. */
  isPressed?: boolean;
  /** Its picture beside its words, which phones leave out; `alone` leaves them out everywhere. */
  icon?: boolean | 'alone';
}

/** Nothing while what the verb is for is not selected, and for those who may not use it. */
export function VerbButton({ context, id, isPressed, icon = false }: VerbButtonProps) {
  const verb = labVerb(id);
  context.lab.changes.value; // what is selected may be started, stopped or locked meanwhile
  if (!fits(verb, context) || whyNotUse(verb, context) !== '') return null;
  const text = wordsOf(verb, context);
  const key = verb.keys?.[0];
  return (
    <button
      type="button"
      class={isDangerous(verb) ? 'danger' : undefined}
      disabled={!isUsable(verb, context)}
      aria-pressed={isPressed}
      title={icon ? [text, key && `(${key})`].filter(Boolean).join(' ') : key}
      onClick={() => verb.run(context)}
    >
      {icon ? <Icon of={id} /> : null}
      {icon ? <span class={icon === 'alone' ? 'hidden' : 'label'}>{text}</span> : text}
    </button>
  );
}
