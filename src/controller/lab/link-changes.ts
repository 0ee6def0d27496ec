// Shared by all changes of links: ordering, recording and announcing them.
import type { Announcer } from '../events.ts';
import type { KeptLink, Link } from '../links/link.ts';
import { wholeLinks } from './claims.ts';
import type { LabWriter } from './lab-writer.ts';
import type { Project } from './project.ts';

/** Runs a change of links in its turn; their nodes stay until it has ended. Links that are gone by then are left out. */
export function changeLinks<T>(
  project: Project,
  ids: readonly string[],
  task: (links: Link[]) => Promise<T>,
): Promise<T> {
  const known = (): Link[] => ids.flatMap((id) => project.links.get(id) ?? []);
  const nodeIds = known().flatMap(({ ends }) => ends.map(({ node }) => node.id));
  return project.changes.run(wholeLinks(ids, nodeIds), () => task(known()));
}

/**
 * As `changeLinks`, for one.
 * @throws Failure `not-found` when the link is gone by then
 */
export function changeLink<T>(project: Project, id: string, task: (link: Link) => Promise<T>): Promise<T> {
  return changeLinks(project, [id], () => task(project.link(id)));
}

export class LinkRecords {
  readonly #announcer: Announcer;
  readonly #writer: LabWriter;

  constructor({ announcer, writer }: { announcer: Announcer; writer: LabWriter }) {
    this.#announcer = announcer;
    this.#writer = writer;
  }

  /** All or none. */
  async keep(project: Project, ...records: readonly KeptLink[]): Promise<void> {
    if (records.length === 0) return;
    const changes = records.map((link) => ({ link }));
    await this.#writer.apply(project.record, changes);
  }

  forget(project: Project, link: Link): Promise<void> {
    return this.#writer.apply(project.record, [{ delete: 'link', id: link.id }]);
  }

  announce(action: 'link.created' | 'link.updated' | 'link.deleted', link: Link): void {
    this.#announcer.project.emit(action, link.json(), link.projectId);
  }

  complain(project: Project, message: string): void {
    this.#announcer.project.emit('log.error', { message }, project.id);
  }
}
