// Something of the page as a file of the person at the browser.

export function saveFile(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  downloadFrom(address, name);
  // The download has begun by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Lets the browser fetch a file, which is never in the memory of the page. */
export function downloadFrom(address: string, name: string): void {
  const link = document.createElement('a');
  link.href = address;
  link.download = name.replaceAll(/[/\\:*?"<>|]/g, '_');
  link.click();
}
