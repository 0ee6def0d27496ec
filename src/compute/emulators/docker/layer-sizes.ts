// How much of an image has come: the Engine tells it layer by layer, each as it is begun.

interface Layer {
  done: number;
  total: number;
}

export class LayerSizes {
  readonly #layers = new Map<string, Layer>();

  /** What a line of the Engine says of a layer. Its unpacking, which is told in the same form, does not count. */
  told(id: string, status: string, { current = 0, total = 0 }: { current?: number; total?: number }): void {
    const known = this.#layers.get(id);
    if (status === 'Downloading' && total > 0) this.#layers.set(id, { done: current, total });
    else if (known && (status === 'Download complete' || status === 'Pull complete')) known.done = known.total;
  }

  /** Bytes that have come. */
  get done(): number {
    return this.#layers.values().reduce((sum, { done }) => sum + done, 0);
  }

  /** Bytes of the layers that are known so far. */
  get total(): number {
    return this.#layers.values().reduce((sum, { total }) => sum + total, 0);
  }
}
