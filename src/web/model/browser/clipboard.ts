// Clipboard access, also outside a secure context, as over plain HTTP from another machine.

/** Resolves to whether the text was copied. */
export async function copyText(text: string): Promise<boolean> {
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // Not permitted: try the older method.
    }
  }
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'hidden';
  // Inside an open dialog only its content can be selected.
  const place = document.activeElement?.closest('dialog') ?? document.body;
  const before = document.activeElement;
  place.append(field);
  field.select();
  const copied = document.execCommand('copy');
  field.remove();
  if (before instanceof HTMLElement) before.focus();
  return copied;
}

/** The clipboard's text, if the browser lets the page read it. */
export async function pastedText(): Promise<string> {
  return (await navigator.clipboard?.readText?.().catch(() => '')) ?? '';
}
