// Moves the focus to elements that may not be visible yet.

/** Focuses an element: at once, or once its opening drawer is rendered. */
export function focusShown(element: HTMLElement | null | undefined): void {
  element?.focus();
  if (element && document.activeElement !== element) requestAnimationFrame(() => element.focus());
}
