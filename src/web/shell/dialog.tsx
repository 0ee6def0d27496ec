// A modal dialog that Escape closes; the focus returns to where it was.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Notices, openDialogs } from './notices.tsx';

interface DialogProps {
  title: string;
  /** Removes the dialog from the page. Its buttons call the same function. */
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
    openDialogs.value += 1;
    return () => {
      // While it is in the document, so that the browser restores the focus.
      shown?.close();
      openDialogs.value -= 1;
    };
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
      // The browser can close the dialog itself. The event comes late: the page may show another dialog by then.
      onClose={({ currentTarget }) => {
        if (currentTarget.isConnected) close();
      }}
      // Keys typed here must not reach the screen below.
      onKeyDown={(event) => event.stopPropagation()}
    >
      {children}
      {/* Notices of the page cannot be used or read well behind an open dialog. */}
      <Notices />
    </dialog>
  );
}
