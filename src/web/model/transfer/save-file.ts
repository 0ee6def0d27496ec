// Saves data of the page as a file of the user.

export function saveFile(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  downloadFrom(address, name);
  // The download has started by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Starts a download by the browser, which needs no memory of the page. */
export function downloadFrom(address: string, name: string): void {
  const link = document.createElement('a');
  link.href = address;
  link.download = name.replaceAll(/[/\\:*?"<>|]/g, '_');
  link.click();
}
