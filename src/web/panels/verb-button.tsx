// A button for a verb.
import { Icon } from '../icons.tsx';
import type { LabContext } from '../lab-context.ts';
import { fits, isDangerous, isUsable, labVerb, whyNotUse, wordsOf } from '../verbs.ts';

interface VerbButtonProps {
  context: LabContext;
  /** Id of the verb. */
  id: string;
  /** For toggles. */
  isPressed?: boolean;
  /** Shows the icon with the label, which phones hide; `alone` hides the label everywhere. */
  icon?: boolean | 'alone';
}

/** Hidden without a matching selection, and for accounts that may not use the verb. */
export function VerbButton({ context, id, isPressed, icon = false }: VerbButtonProps) {
  const verb = labVerb(id);
  context.lab.changes.value; // the selection may be started, stopped or locked meanwhile
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
