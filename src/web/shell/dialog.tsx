// A window upon the page, which Escape closes; the focus goes back to where it was.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { LateAnswer } from './late-answer.tsx';

interface DialogProps {
  title: string;
  close(): void;
  class?: string;
  children: ComponentChildren;
}

export function Dialog({ title, close, class: kind, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={kind}
      aria-label={title}
      onClose={close}
      // What is typed here is not for the screen below.
      onKeyDown={(event) => event.stopPropagation()}
    >
      {children}
      {/* What stands upon the page cannot be pressed as long as this is open. */}
      <LateAnswer />
    </dialog>
  );
}
