// Progress of an image's download: the Engine reports layer by layer, each when its download starts.

interface Layer {
  done: number;
  total: number;
}

export class LayerSizes {
  readonly #layers = new Map<string, Layer>();

  /** Processes one line of the Engine about a layer. Unpacking has lines of the same form and is not counted. */
  told(id: string, status: string, { current = 0, total = 0 }: { current?: number; total?: number }): void {
    const known = this.#layers.get(id);
    if (status === 'Downloading' && total > 0) this.#layers.set(id, { done: current, total });
    else if (known && (status === 'Download complete' || status === 'Pull complete')) known.done = known.total;
  }

  /** Bytes downloaded. */
  get done(): number {
    return this.#layers.values().reduce((sum, { done }) => sum + done, 0);
  }

  /** Bytes of all layers known so far. */
  get total(): number {
    return this.#layers.values().reduce((sum, { total }) => sum + total, 0);
  }
}
