/** The effective user of this process. */
export function ownUser(): number {
  return process.geteuid?.() ?? -1;
}
