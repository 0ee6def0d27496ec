// Shared by all changes of links: ordering, recording and announcing them.
import type { Announcer } from '../events.ts';
import type { KeptLink, Link } from '../links/link.ts';
import { wholeLink } from './claims.ts';
import type { LabWriter } from './lab-writer.ts';
import type { Project } from './project.ts';

/**
 * Runs a change of a link in its turn; the link's nodes stay until it has ended.
 * @throws Failure `not-found` when the link is gone by then
 */
export function changeLink<T>(project: Project, id: string, task: (link: Link) => Promise<T>): Promise<T> {
  const known = project.links.get(id);
  const nodeIds = known?.ends.map(({ node }) => node.id) ?? [];
  return project.changes.run(wholeLink(id, nodeIds), () => task(project.link(id)));
}

export class LinkRecords {
  readonly #announcer: Announcer;
  readonly #writer: LabWriter;

  constructor({ announcer, writer }: { announcer: Announcer; writer: LabWriter }) {
    this.#announcer = announcer;
    this.#writer = writer;
  }

  keep(project: Project, record: KeptLink): Promise<void> {
    return this.#writer.apply(project.record, [{ link: record }]);
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
