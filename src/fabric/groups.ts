// The groups on a thread: the numbers of each group's ports and devices.

export class Groups {
  readonly #groupOf = new Map<number, string>();
  readonly #sizes = new Map<string, number>();

  enter(subject: number, group: string): void {
    this.#groupOf.set(subject, group);
    this.#sizes.set(group, (this.#sizes.get(group) ?? 0) + 1);
  }

  leave(subject: number): void {
    const group = this.#groupOf.get(subject);
    if (group === undefined) return;
    this.#groupOf.delete(subject);
    const size = this.#sizes.get(group)! - 1;
    if (size === 0) this.#sizes.delete(group);
    else this.#sizes.set(group, size);
  }

  has(group: string): boolean {
    return this.#sizes.has(group);
  }

  clear(): void {
    this.#groupOf.clear();
    this.#sizes.clear();
  }

  /** Names of the groups that have members. */
  get names(): string[] {
    return [...this.#sizes.keys()];
  }

  /** Number of members of all groups. */
  get members(): number {
    return this.#groupOf.size;
  }
}
