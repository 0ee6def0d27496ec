// A window upon the page, which Escape closes; the focus goes back to where it was.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { LateAnswer } from './late-answer.tsx';

interface DialogProps {
  title: string;
  /** Takes the dialog off the page. Buttons in it call the same function. */
  close(): void;
  class?: string;
  children: ComponentChildren;
}

export function Dialog({ title, close, class: kind, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  // Before the next key, which belongs to the dialog.
  useLayoutEffect(() => {
    const shown = element.current;
    shown?.showModal();
    // While it is on the page, so that the browser gives the focus back.
    return () => shown?.close();
  }, []);
  return (
    <dialog
      ref={element}
      class={kind}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      // The browser's own closing, which some keys force. The event comes late: the page may show another dialog by then.
      onClose={({ currentTarget }) => {
        if (currentTarget.isConnected) close();
      }}
      // What is typed here is not for the screen below.
      onKeyDown={(event) => event.stopPropagation()}
    >
      {children}
      {/* What stands upon the page cannot be pressed as long as this is open. */}
      <LateAnswer />
    </dialog>
  );
}
