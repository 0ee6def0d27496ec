// Copying, also where the page is no secure context, as over plain HTTP from another machine.

/** True if the text is in the clipboard. */
export async function copyText(text: string): Promise<boolean> {
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // Not allowed to this page: the older way may be.
    }
  }
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'hidden';
  // Within a dialog that is open: nothing beside it can be selected.
  const place = document.activeElement?.closest('dialog') ?? document.body;
  const before = document.activeElement;
  place.append(field);
  field.select();
  const copied = document.execCommand('copy');
  field.remove();
  if (before instanceof HTMLElement) before.focus();
  return copied;
}

/** What the clipboard holds, if the browser lets the page read it. */
export async function pastedText(): Promise<string> {
  return (await navigator.clipboard?.readText?.().catch(() => '')) ?? '';
}
