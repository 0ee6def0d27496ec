/** What a test, or a benchmark, calls when it ends: the last given first, or the first, as the caller has it. */
export interface Cleanup {
  after(act: () => unknown): void;
}
