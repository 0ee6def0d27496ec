// Makes labs durable. Every change is in the database before it is acknowledged. The .gns3 file is written when the lab
// is idle, when it closes, and before the file is read. A file that another program changed meanwhile is left alone: it
// is used at the next opening, and the present lab is saved beside it.
import { join } from 'node:path';
import type { Topology } from '../../api/topology.ts';
import { conflict, messageOf } from '../../failures.ts';
import { makeDirectory } from '../../host/files/directories.ts';
import { log } from '../../host/log.ts';
import { KeyedLock } from '../../host/values/keyed-lock.ts';
import type { DocumentChange } from '../../store/documents.ts';
import type { LabChange, LabTexts } from '../../store/labs.ts';
import type { ProjectRecord } from '../../store/projects.ts';
import type { Store } from '../../store/store.ts';
import { topologyOf } from '../../store/topology/document.ts';
import { recognizeFile, writeTopologyFile } from '../../store/topology/file.ts';
import { labTextBeside } from '../../store/topology/lab-text-thread.ts';
import { mended } from './damaged-records.ts';

/** How long (ms) without a change until the file is written, and the longest delay for a busy lab. */
const QUIET_MS = 1_000;
const LONGEST_DELAY_MS = 15_000;

interface Pending {
  timer: NodeJS.Timeout;
  since: number;
}

export class LabWriter {
  readonly #store: Store;
  readonly #version: string;
  readonly #warn: (projectId: string, message: string) => void;
  readonly #pending = new Map<string, Pending>();
  readonly #warned = new Set<string>();
  readonly #lock = new KeyedLock();

  /** `version` is written into the files; `warn` sends a warning to a project's listeners. */
  constructor(options: { store: Store; version: string; warn: (projectId: string, message: string) => void }) {
    this.#store = options.store;
    this.#version = options.version;
    this.#warn = options.warn;
  }

  /** Makes changes of an open lab durable; its file is written when the lab is idle. */
  async apply(record: ProjectRecord, changes: readonly LabChange[]): Promise<void> {
    await this.#store.labs.apply(record.project_id, changes);
    this.#schedule(record.project_id);
  }

  /** Makes the settings of a project durable. */
  async putProject(record: ProjectRecord): Promise<void> {
    await this.#store.projects.put(record);
    this.#schedule(record.project_id);
  }

  #schedule(projectId: string): void {
    const now = Date.now();
    const since = this.#pending.get(projectId)?.since ?? now;
    clearTimeout(this.#pending.get(projectId)?.timer);
    const delay = Math.max(0, Math.min(QUIET_MS, since + LONGEST_DELAY_MS - now));
    const timer = setTimeout(() => {
      this.flush(projectId).catch((error: unknown) => {
        log.error('a topology file cannot be written', { project: projectId, error: messageOf(error) });
        this.#warn(
          projectId,
          `The project file cannot be written: ${messageOf(error)} The lab is kept in the server's database.`,
        );
      });
    }, delay);
    this.#pending.set(projectId, { timer, since });
  }

  /**
   * Writes the file of an open lab if it is out of date; on a full disk too, as the old file is replaced. Does nothing
   * for projects that are not open.
   */
  async flush(projectId: string): Promise<void> {
    clearTimeout(this.#pending.get(projectId)?.timer);
    this.#pending.delete(projectId);
    await this.#lock.run(projectId, () => this.#store.makingRoom(() => this.#write(projectId)));
  }

  async #write(projectId: string): Promise<void> {
    const state = await this.#store.labs.state(projectId);
    if (!state?.dirty) return;
    const [lab, record] = await Promise.all([this.#store.labs.texts(projectId), this.#store.projects.get(projectId)]);
    if (!lab || !record) return;
    // If the previous run of the server ended while the lab was being created, even its directory may be missing.
    if (lab.fingerprint === undefined) await makeDirectory(record.path);
    await this.#store.locks.hold(record);
    const path = join(record.path, record.filename);
    const content = await this.#contentOf(record, lab);
    const found = await recognizeFile(path, [lab.fingerprint, lab.coming]);
    if (lab.fingerprint !== undefined && found.exists && found.known === undefined) {
      await this.#keepAside(record, path, content);
      await this.#store.labs.recordWritten(projectId, lab.fingerprint, lab.changes);
      return;
    }
    // The server ended after it replaced the file and before it recorded that. Record it now, before the next write is
    // announced, as that may fail too.
    if (lab.coming !== undefined && found.known === lab.coming)
      await this.#store.labs.recordTaken(projectId, lab.coming);
    const coming = (written: string): Promise<void> => this.#store.labs.recordComing(projectId, written);
    await this.#store.labs.recordWritten(projectId, await writeTopologyFile(path, content, coming), lab.changes);
  }

  /** The file's new content, taken from the records at once, as they may change while it is written. */
  async #contentOf(project: ProjectRecord, { records, project_id: id }: LabTexts): Promise<Topology | Uint8Array> {
    const text = await labTextBeside({ project, records, version: this.#version });
    if (text) return text;
    const lab = await this.#store.labs.load(id);
    if (!lab) throw conflict(`The lab "${project.name}" was closed while its file was written.`);
    const path = join(project.path, project.filename);
    return topologyOf(project, await mended(lab, path, this.#version), this.#version);
  }

  /** Another program changed the file: the present lab is saved beside it. */
  async #keepAside(record: ProjectRecord, path: string, content: Topology | Uint8Array): Promise<void> {
    const aside = `${path}.labwire-backup`;
    await writeTopologyFile(aside, content);
    if (this.#warned.has(record.project_id)) return;
    this.#warned.add(record.project_id);
    const message = `${record.filename} was changed by another program, so it is no longer written: close and open the project to read it. The lab as it is now is kept in ${record.filename}.labwire-backup.`;
    log.warn(message, { project: record.project_id });
    this.#warn(record.project_id, message);
  }

  /** Ends a closed lab: writes its file and deletes its live state. */
  async end(projectId: string): Promise<void> {
    await this.flush(projectId);
    this.#warned.delete(projectId);
    await this.#store.labs.end(projectId);
    await this.#store.locks.release(projectId);
  }

  /** Deletes a project, with changes of documents, and cancels its pending write. */
  async forget(projectId: string, documents?: readonly DocumentChange[]): Promise<void> {
    clearTimeout(this.#pending.get(projectId)?.timer);
    this.#pending.delete(projectId);
    await this.#lock.run(projectId, () => this.#store.projects.delete(projectId, documents));
    await this.#store.locks.release(projectId);
  }

  /** Writes the files of all labs, after the writes that have begun. */
  async stop(): Promise<void> {
    const labs = await this.#store.labs.list().catch(() => []);
    await Promise.allSettled(labs.map(({ project_id: id }) => this.flush(id)));
  }
}
