// The focus, for what may have to be shown first.

/** Gives an element the focus: at once or, where its drawer is about to open, when that is drawn. */
export function focusShown(element: HTMLElement | null | undefined): void {
  element?.focus();
  if (element && document.activeElement !== element) requestAnimationFrame(() => element.focus());
}
