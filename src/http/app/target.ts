// The target of a request.
/** Path and query as sent. */
export function targetOf(request: Request, environment: { target?: string } | undefined): string {
  if (environment?.target !== undefined) return environment.target;
  const url = new URL(request.url);
  return url.pathname + url.search;
}
