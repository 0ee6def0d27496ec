// The clipboard, also where the page is no secure context and has no `navigator.clipboard`: plain HTTP from another host.

/** @throws Error where the browser refuses */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const former = document.activeElement;
  const field = document.createElement('textarea');
  field.className = 'hidden';
  field.value = text;
  // Within the open window, if there is one: what is outside of it cannot be selected.
  (document.querySelector('dialog[open]') ?? document.body).append(field);
  field.select();
  const isDone = document.execCommand('copy');
  field.remove();
  if (former instanceof HTMLElement) former.focus();
  if (!isDone) throw new Error('copy');
}

/** What the clipboard holds, if the browser lets the page read it. */
export async function pastedText(): Promise<string> {
  return (await navigator.clipboard?.readText?.().catch(() => '')) ?? '';
}
