// What the page says of a failure: the only place that makes words of an error.

/** The sentence of an error: of a refusal, what the server has said. Nothing is said otherwise for one status than for another. */
export function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
