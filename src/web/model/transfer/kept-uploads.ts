// Uploads that outlive the page: what is sent, so that they can go on when the page was loaded again and the file is chosen once more.
import { sampleOf } from './file-sample.ts';

export interface KeptUpload {
  /** The identifier by which the server knows it. */
  id: string;
  computeId: string;
  emulator: string;
  filename: string;
  filesize: number;
  /** When the file was changed last, in milliseconds, and a checksum of parts of it. */
  modified: number;
  sample: string;
  /** When a page last said that it is sending, in milliseconds; 0 when that page was left. */
  alive: number;
}

/** What is used of `localStorage`. */
export interface Store {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

const KEY = 'uploads';
/** Milliseconds without a word, after which a page that was sending is taken to be gone. */
const GONE_MS = 15_000;
/** How often a page that sends should say so. */
export const ALIVE_MS = 5_000;

/** Undefined where the browser has none. */
export function browserStore(): Store | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}

export class KeptUploads {
  readonly #store: Store | undefined;
  readonly #now: () => number;

  /** @param store without one nothing outlives the page */
  constructor(store: Store | undefined, now: () => number = Date.now) {
    this.#store = store;
    this.#now = now;
  }

  all(): KeptUpload[] {
    try {
      const list: unknown = JSON.parse(this.#store?.getItem(KEY) ?? '[]');
      return Array.isArray(list) ? (list as KeptUpload[]) : [];
    } catch {
      return [];
    }
  }

  /** Those that no page is sending. */
  left(): KeptUpload[] {
    return this.all().filter(({ alive }) => Math.abs(this.#now() - alive) > GONE_MS);
  }

  keep(upload: Omit<KeptUpload, 'alive'>): void {
    this.#write([...this.all().filter(({ id }) => id !== upload.id), { ...upload, alive: this.#now() }]);
  }

  forget(upload: string): void {
    const all = this.all();
    if (all.some(({ id }) => id === upload)) this.#write(all.filter(({ id }) => id !== upload));
  }

  /** Says that these are being sent still, or, when the page is left, that they are not. */
  say(uploads: ReadonlySet<string>, isLeft = false): void {
    if (uploads.size === 0) return;
    const alive = isLeft ? 0 : this.#now();
    this.#write(this.all().map((upload) => (uploads.has(upload.id) ? { ...upload, alive } : upload)));
  }

  #write(list: readonly KeptUpload[]): void {
    try {
      this.#store?.setItem(KEY, JSON.stringify(list));
    } catch {
      // Without room it is forgotten with the page.
    }
  }
}

/** Whether a file is the one whose beginning was sent. @throws DOMException when it cannot be read */
export async function isSameFile(
  { filename, filesize, modified, sample }: KeptUpload,
  file: File,
): Promise<'same' | 'other' | 'changed'> {
  if (file.name !== filename || file.size !== filesize) return 'other';
  if ((await sampleOf(file)) !== sample) return 'other';
  return file.lastModified === modified ? 'same' : 'changed';
}
