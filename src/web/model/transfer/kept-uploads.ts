// Uploads that survive a reload of the page: stored so that they can resume when the user chooses the file again.
import { sampleOf } from './file-sample.ts';

export interface KeptUpload {
  /** The server's id of the upload. */
  id: string;
  computeId: string;
  emulator: string;
  filename: string;
  filesize: number;
  /** Modification time of the file in milliseconds, and a checksum of samples. */
  modified: number;
  sample: string;
  /** When a page last reported that it is sending, in milliseconds; 0 after that page was left. */
  alive: number;
}

/** The part of `localStorage` that is used. */
export interface Store {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

const KEY = 'uploads';
/**
 * Milliseconds without a report after which a sending page counts as closed. A closed page says so, unless its browser has ended; timers of
 * hidden pages run once a minute.
 */
const GONE_MS = 150_000;
/** How often a sending page should report. */
export const ALIVE_MS = 5_000;

/** Undefined if the browser has no storage. */
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

  /** @param store without one, uploads do not survive the page */
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

  has(upload: string): boolean {
    return this.all().some(({ id }) => id === upload);
  }

  /** Uploads that no page is sending. */
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

  /** Reports that these uploads are being sent or, when the page is left, that they are not. */
  say(uploads: ReadonlySet<string>, isLeft = false): void {
    if (uploads.size === 0) return;
    const alive = isLeft ? 0 : this.#now();
    this.#write(this.all().map((upload) => (uploads.has(upload.id) ? { ...upload, alive } : upload)));
  }

  #write(list: readonly KeptUpload[]): void {
    try {
      this.#store?.setItem(KEY, JSON.stringify(list));
    } catch {
      // Without space the upload does not survive the page.
    }
  }
}

/** Whether a file is the one that was partly sent. @throws DOMException when it cannot be read */
export async function isSameFile(
  { filename, filesize, modified, sample }: KeptUpload,
  file: File,
): Promise<'same' | 'other' | 'changed'> {
  if (file.name !== filename || file.size !== filesize) return 'other';
  if ((await sampleOf(file)) !== sample) return 'other';
  return file.lastModified === modified ? 'same' : 'changed';
}
