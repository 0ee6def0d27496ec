// The head of a lab's screen: the way back to the list, the name, whether what is shown is live, and what else belongs there.
import type { ComponentChildren } from 'preact';
import type { Lab } from '../model/lab.ts';
import { WORDS } from '../words.ts';
import { Live } from './live.tsx';

interface LabHeaderProps {
  lab: Lab;
  go: (path: string) => void;
  children?: ComponentChildren;
}

export function LabHeader({ lab, go, children }: LabHeaderProps) {
  return (
    <header>
      <h1>
        <a
          href="/"
          onClick={(event) => {
            event.preventDefault();
            go('/');
          }}
        >
          {WORDS.labs.title}
        </a>{' '}
        <span>{lab.project.value?.name}</span>
      </h1>
      <Live connection={lab.events.connection} />
      {children}
    </header>
  );
}
