/** A test, or a benchmark, that cleans up when it ends. */
export interface Cleanup {
  after(act: () => unknown): void;
}
