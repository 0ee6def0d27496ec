// Whether the path of a link by VXLAN works, judged by its probes.

/** The first probes follow each other fast, so that a new link soon leaves UDP; ms. */
const FIRST_MS = 100;
const FIRST_PROBES = 20;
const PROBE_MS = 500;
/** Probes in a row without an answer until the link uses UDP. */
const MOST_UNANSWERED = 4;
/** Answers in a row until a link that has failed uses VXLAN again. */
const ANSWERS_AGAIN = 4;

export class VxlanPath {
  /** The number of the last probe. */
  sent = 0;
  #answered = 0;
  #unanswered = 0;
  #inRow = 0;
  #state: 'tried' | 'works' | 'fails' = 'tried';

  get works(): boolean {
    return this.#state === 'works';
  }

  /** Whether there was no answer for too long. */
  get fails(): boolean {
    return this.#state === 'fails';
  }

  /** Milliseconds until the next probe is due. */
  get waitMs(): number {
    return this.#state === 'tried' ? FIRST_MS : PROBE_MS;
  }

  /** Judges before the next probe is sent. @param answered the number of the latest answer; 0: none */
  judge(answered: number): void {
    if (this.sent === 0) return;
    // Of a path with a longer way than the time between probes each answer is late, but there is one.
    const isAnswered = answered !== this.#answered;
    this.#answered = answered;
    this.#unanswered = isAnswered ? 0 : this.#unanswered + 1;
    this.#inRow = isAnswered ? this.#inRow + 1 : 0;
    if (this.#state === 'tried' && isAnswered) this.#state = 'works';
    else if (this.#state === 'fails' && this.#inRow >= ANSWERS_AGAIN) this.#state = 'works';
    else if (this.#unanswered >= (this.#state === 'tried' ? FIRST_PROBES : MOST_UNANSWERED)) this.#state = 'fails';
  }
}
