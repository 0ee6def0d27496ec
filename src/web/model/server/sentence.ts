// Error messages of the page; the only place that makes text of an error.

/** The message of an error; for a refusal, the server's message, whatever the status. */
export function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
