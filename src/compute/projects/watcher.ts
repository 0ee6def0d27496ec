// Announces what anybody does to the files of a project's directory: files, not folders; links are not followed.
import { relative } from 'node:path';
import type { FSWatcher } from 'chokidar';
import { messageOf, systemCode } from '../../failures.ts';
import { isTemporaryName } from '../../host/files/atomic-file.ts';
import { log } from '../../host/log.ts';

export interface WatchedFile {
  /** Relative to the watched directory, with `/` between its parts. */
  path: string;
  /** Bytes; null when it is gone. */
  size: number | null;
  /** Seconds since 1970; null when it is gone. */
  mtime: number | null;
}

export interface WatcherEvents {
  file(change: 'created' | 'updated' | 'deleted', file: WatchedFile): void;
  /** Told once: from now on changes may be missed, and why. */
  problem(message: string): void;
}

/** A large directory is looked through in the background after this long (milliseconds). */
const PATIENCE_MS = 1000;
/** A file that keeps changing is announced once in this time (milliseconds), at the end with its last state. */
const QUIET_MS = 1000;

/** Captures grow with every frame; that they exist is news, that they grow is not. */
const GROWING = /^project-files\/captures\//;
/** The topology with its companions, and the snapshots, which the controller writes. */
const CONTROLLERS = /^([^/]+\.gns3(\.backup.*)?|snapshots(\/.*)?)$/;

export class DirectoryWatcher {
  readonly #directory: string;
  readonly #events: WatcherEvents;
  #watcher: FSWatcher | undefined;
  #told = false;
  /** Files that were announced as changed a moment ago, with what has become of them since. */
  readonly #recent = new Map<string, { timer: NodeJS.Timeout; later: WatchedFile | undefined }>();

  constructor(directory: string, events: WatcherEvents) {
    this.#directory = directory;
    this.#events = events;
  }

  /** Begins to watch. What is there already is not announced. */
  async start(): Promise<void> {
    // Not before there is a project to watch: a daemon without labs stays small.
    const { watch } = await import('chokidar');
    const watcher = watch(this.#directory, {
      ignoreInitial: true,
      // A watch that the library begins while it is being closed must not keep the process from ending.
      persistent: false,
      followSymlinks: false,
      // Its filter of editors' temporary names would hide files that a user may have called so.
      atomic: false,
      alwaysStat: true,
      ignorePermissionErrors: true,
      ignored: (path) => this.#isOurs(path),
    });
    this.#watcher = watcher;
    watcher.on('error', (error) => this.#fail(error));
    watcher.on('add', (path, stats) => {
      this.#forget(this.#name(path));
      this.#events.file('created', this.#file(path, stats));
    });
    watcher.on('change', (path, stats) => this.#changed(this.#file(path, stats)));
    watcher.on('unlink', (path) => {
      this.#forget(this.#name(path));
      this.#events.file('deleted', this.#file(path, undefined));
    });
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, PATIENCE_MS);
      watcher.once('ready', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  async stop(): Promise<void> {
    for (const path of this.#recent.keys()) this.#forget(path);
    await this.#watcher?.close();
    this.#watcher = undefined;
  }

  #name(path: string): string {
    return relative(this.#directory, path);
  }

  #file(path: string, stats: { size: number; mtimeMs: number } | undefined): WatchedFile {
    return {
      path: this.#name(path),
      size: stats?.size ?? null,
      mtime: stats === undefined ? null : stats.mtimeMs / 1000,
    };
  }

  #isOurs(path: string): boolean {
    const name = this.#name(path);
    return CONTROLLERS.test(name) || isTemporaryName(name.slice(name.lastIndexOf('/') + 1));
  }

  #changed(file: WatchedFile): void {
    if (GROWING.test(file.path)) return;
    const recent = this.#recent.get(file.path);
    if (recent) recent.later = file;
    else this.#announceChange(file);
  }

  #announceChange(file: WatchedFile): void {
    this.#events.file('updated', file);
    const timer = setTimeout(() => {
      const { later } = this.#recent.get(file.path)!;
      this.#recent.delete(file.path);
      if (later) this.#announceChange(later);
    }, QUIET_MS);
    this.#recent.set(file.path, { timer, later: undefined });
  }

  #forget(path: string): void {
    clearTimeout(this.#recent.get(path)?.timer);
    this.#recent.delete(path);
  }

  #fail(error: unknown): void {
    if (this.#told) return;
    this.#told = true;
    const limit = ['ENOSPC', 'EMFILE', 'ENFILE'].includes(systemCode(error) ?? '');
    const message = limit
      ? `Changes of files in ${this.#directory} may go unnoticed: this host's watch limit is reached. Raise fs.inotify.max_user_watches and fs.inotify.max_user_instances.`
      : `Changes of files in ${this.#directory} may go unnoticed: ${messageOf(error)}`;
    log.warn('directory not watched completely', { directory: this.#directory, reason: messageOf(error) });
    this.#events.problem(message);
  }
}
