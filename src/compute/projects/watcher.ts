// Reports changes of files in a project's directory. Folders are not reported, links not followed.
import { relative } from 'node:path';
import type { FSWatcher } from 'chokidar';
import { messageOf, systemCode } from '../../failures.ts';
import { isTemporaryName } from '../../host/files/atomic-file.ts';
import { log } from '../../host/log.ts';

export interface WatchedFile {
  /** Relative to the watched directory, with `/` between its parts. */
  path: string;
  /** Bytes; null if it was removed. */
  size: number | null;
  /** Seconds since 1970; null if it was removed. */
  mtime: number | null;
}

export interface WatcherEvents {
  file(change: 'created' | 'updated' | 'deleted', file: WatchedFile): void;
  /** Called once, when changes may be missed from now on, with the reason. */
  problem(message: string): void;
}

/** Time (ms) after which the scan of a large directory continues in the background. */
const PATIENCE_MS = 1000;
/** A file that keeps changing is reported once in this time (ms), at the end with its last state. */
const QUIET_MS = 1000;

/** Captures grow with every frame: only report that they exist. */
const GROWING = /^project-files\/captures\//;
/** The topology with its backups, and the snapshots, all written by the controller; and the files of deleted nodes. */
const OURS = /^([^/]+\.gns3(\.backup.*)?|snapshots(\/.*)?|project-files\/tmp\/deleted(\/.*)?)$/;

export class DirectoryWatcher {
  readonly #directory: string;
  readonly #events: WatcherEvents;
  #watcher: FSWatcher | undefined;
  #told = false;
  /** Existing captures that were reported. */
  readonly #captures = new Set<string>();
  /** Recently reported files, with their last unreported state. */
  readonly #recent = new Map<string, { timer: NodeJS.Timeout; later: WatchedFile | undefined }>();

  constructor(directory: string, events: WatcherEvents) {
    this.#directory = directory;
    this.#events = events;
  }

  /** Starts watching. Existing files are not reported. */
  async start(): Promise<void> {
    // Loaded with the first project: a daemon without labs stays small.
    const { watch } = await import('chokidar');
    const watcher = watch(this.#directory, {
      ignoreInitial: true,
      // A watch that the library starts while it closes must not keep the process alive.
      persistent: false,
      followSymlinks: false,
      // Its filter of editors' temporary names would hide user files of such names.
      atomic: false,
      alwaysStat: true,
      ignorePermissionErrors: true,
      ignored: (path) => this.#isOurs(path),
    });
    this.#watcher = watcher;
    watcher.on('error', (error) => this.#fail(error));
    watcher.on('add', (path, stats) => {
      const name = this.#name(path);
      // On a busy host the library reports a file twice that appears while it scans; a capture may have grown in between.
      if (this.#captures.has(name)) return;
      if (GROWING.test(name)) this.#captures.add(name);
      this.#forget(name);
      this.#events.file('created', this.#file(path, stats));
    });
    watcher.on('change', (path, stats) => this.#changed(this.#file(path, stats)));
    watcher.on('unlink', (path) => {
      this.#captures.delete(this.#name(path));
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
    return OURS.test(name) || isTemporaryName(name.slice(name.lastIndexOf('/') + 1));
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
