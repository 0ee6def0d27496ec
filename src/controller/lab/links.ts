// Creates, changes and deletes links.
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { nodeKind } from '../../api/kinds/kinds.ts';
import type { LinkBody, LinkEndBody } from '../../api/routes/links.ts';
import type { Label } from '../../api/vocabulary.ts';
import { conflict, invalid, notFound } from '../../failures.ts';
import type { Announcer } from '../events.ts';
import { normalizedFilters } from '../links/filters.ts';
import { linkImpairments, requestedStyle } from '../links/impairments.ts';
import { impairLine } from '../links/lines.ts';
import { defaultEndLabel, keptLink, Link, type LinkEnd, type LinkSettings } from '../links/link.ts';
import { discardWire, removeStaleNios, renewWire, rewire, unwire, wire } from '../links/wiring.ts';
import type { Node } from '../nodes/node.ts';
import { newLink } from './claims.ts';
import type { KeptLink } from './deleted-nodes.ts';
import type { LabWriter } from './lab-writer.ts';
import { LinkCaptures } from './link-captures.ts';
import { changeLink, changeLinks, LinkRecords } from './link-changes.ts';
import { NotedNios } from './noted-nios.ts';
import type { Project } from './project.ts';

/** The settings and ends of a new link. */
export interface LinkPlan extends LinkSettings {
  ends: readonly LinkEndBody[];
  /** Computes on other hosts may still have the NIOs of a previous run of this server. */
  loose?: boolean;
}

export class Links {
  readonly captures: LinkCaptures;
  readonly #records: LinkRecords;

  constructor(options: { announcer: Announcer; writer: LabWriter }) {
    this.#records = new LinkRecords(options);
    this.captures = new LinkCaptures(this.#records);
  }

  /**
   * Creates a link and wires it once it has two ends.
   * @throws Failure of the first check that fails, or of a compute, after rollback
   */
  create(project: Project, given: LinkBody): Promise<Link> {
    const { nodes: ends } = given;
    const id = randomUUID();
    return project.changes.run(newLink(id, ends ?? []), async () => {
      project.requireOpen();
      if (ends === undefined) throw invalid('nodes: is required: the two ends of the link.');
      for (const { node_id: nodeId } of ends) await project.nodes.get(nodeId)?.reach();
      const link = new Link(project.id, id);
      const wanted = {
        ends,
        filters: normalizedFilters(given.filters ?? {}),
        style: requestedStyle(given.link_style ?? {}),
        suspended: given.suspend ?? false,
        impairments: linkImpairments(given.impairments ?? null),
      };
      await this.build(project, link, wanted, { isNew: true });
      return link;
    });
  }

  /**
   * Makes a link again that went with a node which is restored.
   * @throws Failure if an end is missing or linked by now
   */
  restore(project: Project, { id, ends, settings }: KeptLink): Promise<void> {
    return project.changes.run(newLink(id, ends), async () => {
      project.requireOpen();
      const link = new Link(project.id, id);
      await this.build(project, link, { ...settings, ends }, { isNew: true });
    });
  }

  /**
   * Wires a link on the computes and announces it. The project lists the link only after that.
   * @param isNew it is recorded; an opening records its links together
   */
  async build(project: Project, link: Link, given: LinkPlan, { isNew }: { isNew: boolean }): Promise<void> {
    const { filters, style, suspended, impairments } = given;
    using noted = new NotedNios(project);
    await using undo = new AsyncDisposableStack();
    undo.defer(() => {
      project.detach(link);
      this.#records.announce('link.deleted', link);
    });
    link.settings = { ...link.settings, filters, style, impairments };
    if (Object.keys(style).length > 0) this.#records.announce('link.updated', link);
    link.settings = { ...link.settings, suspended };
    if (suspended) this.#records.announce('link.updated', link);
    const ends: LinkEnd[] = [];
    for (const body of given.ends) ends.push(this.#end(project, ends, body));
    link.ends = ends;
    if (ends.length >= 2) {
      // Before the computes are called, so that a second request for one of these ports is refused meanwhile.
      project.attach(link);
      if (!link.unwirable) {
        if (isNew) await noted.begin(link.ends);
        if (given.loose) await removeStaleNios(link);
        undo.defer(() => noted.settle());
        await wire(link);
        undo.defer(() => discardWire(link));
        await impairLine(link, impairments);
      }
    }
    if (isNew) await this.#records.keep(project, link.kept);
    undo.move();
    await noted.settle();
    project.links.set(link.id, link);
    if (ends.length < 2) return;
    link.created = true;
    this.#records.announce('link.created', link);
  }

  /** Makes one end, after all checks in the release's order. */
  #end(project: Project, others: readonly LinkEnd[], body: LinkEndBody): LinkEnd {
    const node = project.node(body.node_id);
    const port = node.port(body.adapter_number, body.port_number);
    const place = `${node.name} adapter ${body.adapter_number} port ${body.port_number}`;
    if (!port) throw notFound(`nodes: ${place} does not exist.`);
    if (project.linkAt(node, body.adapter_number, body.port_number)) {
      throw conflict(`nodes: ${place} is already linked; delete that link first.`);
    }
    const [other] = others;
    if (other) {
      if (other.node === node) throw conflict(`nodes: both ends are ${node.name}; a link joins two nodes.`);
      if (nodeKind(node.type).leadsOut && nodeKind(other.node.type).leadsOut) {
        throw conflict('nodes: a cloud or NAT cannot be joined to another one.');
      }
      if (other.port.link_type !== port.link_type) {
        throw conflict(
          `nodes: ${place} is ${port.link_type}, the other end ${other.port.link_type}; both must be of one kind.`,
        );
      }
    }
    return { node, port, label: body.label ?? defaultEndLabel(port) };
  }

  /** Changes filters, style, suspension and labels, all or none. Each aspect that changes is announced. */
  update(project: Project, id: string, given: LinkBody): Promise<Link> {
    return changeLink(project, id, async (link) => {
      const change = { link, wanted: changed(link.settings, given), labels: changedLabels(project, link, given) };
      await this.#updateNow(project, [change]);
      if (given.nodes !== undefined && given.nodes.length > 0) this.#records.announce('link.updated', link);
      return link;
    });
  }

  /** Suspends links or resumes them, all or none. Links that are deleted meanwhile are left out. */
  suspend(project: Project, ids: readonly string[], suspend: boolean): Promise<void> {
    return changeLinks(project, ids, async (links) => {
      project.requireOpen();
      const changes = links.map((link) => ({ link, wanted: changed(link.settings, { suspend }), labels: new Map() }));
      await this.#updateNow(project, changes);
    });
  }

  /**
   * In order: computes, disk, memory. The links are unchanged until the first two have succeeded, and restored after a
   * failure.
   */
  async #updateNow(project: Project, changes: readonly LinkChange[]): Promise<void> {
    await using undo = new AsyncDisposableStack();
    // A link that cannot be wired now gets these settings when it can be.
    const unwirable = new Set(changes.filter(({ link }) => link.unwirable));
    const rewirings = new Map(changes.map(({ link }) => [link, link.rewirings]));
    for (const change of changes) if (!unwirable.has(change)) await updateWire(change, undo);
    const records = changes
      .map(({ link, wanted, labels }) => ({ link, record: link.recordWith(wanted, labels) }))
      .filter(({ link, record }) => !isDeepStrictEqual(record, link.record));
    await this.#records.keep(project, ...records.map(({ link, record }) => keptLink(record, link.keptCapture)));
    undo.move();
    for (const change of changes) {
      const { link, wanted, labels } = change;
      link.uncertain = unwirable.has(change) && (link.uncertain || !isDeepStrictEqual(wanted, link.settings));
      this.#replace(link, wanted);
      for (const [end, label] of labels) end.label = label;
    }
    // Wired again meanwhile, with the settings of before.
    for (const { link } of changes.filter((change) => change.link.rewirings !== rewirings.get(change.link))) {
      link.uncertain = await applySettings(link).then(
        () => false,
        () => true,
      );
    }
  }

  /** One announcement for each aspect that differs. */
  #replace(link: Link, wanted: LinkSettings): void {
    for (const aspect of ['filters', 'impairments', 'style', 'suspended'] as const) {
      if (isDeepStrictEqual(wanted[aspect], link.settings[aspect])) continue;
      link.settings = { ...link.settings, [aspect]: wanted[aspect] };
      if (link.created || aspect === 'style') this.#records.announce('link.updated', link);
    }
  }

  /**
   * Rewires a link after nodes at its ends were recreated; its capture continues in a new file.
   * @throws Failure of a compute; the link stays and can be renewed again
   */
  async renew(project: Project, link: Link, lost: ReadonlySet<Node>): Promise<void> {
    await this.captures.interrupt(link, lost);
    let { settings } = link;
    await renewWire(link, lost);
    // Deleted or changed meanwhile: changes of links do not wait for this.
    if (link.leaving) return discardWire(link);
    await impairLine(link, settings.impairments);
    while (settings !== link.settings && !link.leaving) {
      settings = link.settings;
      await applySettings(link);
    }
    link.rewirings += 1;
    link.uncertain = false;
    await this.captures.resume(project, link);
  }

  /**
   * Replaces the NIOs of both ends by new ones with the present settings; a capture goes on in a new file.
   * @throws Failure `conflict` while an end cannot be wired
   */
  reset(project: Project, id: string): Promise<Link> {
    return changeLink(project, id, async (link) => {
      if (link.unwirable) throw conflict('link_id: a node of the link is missing, so it cannot be wired.');
      if (link.ends.length >= 2) await this.renew(project, link, new Set());
      return link;
    });
  }

  delete(project: Project, id: string): Promise<void> {
    return changeLink(project, id, async (link) => {
      link.leaving = true;
      try {
        using noted = new NotedNios(project);
        await noted.begin(link.ends, { makesRoom: true });
        // On disk first: if that fails nothing has changed, and a rejection by a compute can be rolled back there.
        await this.#records.forget(project, link);
        for (const end of link.ends) if (end.node.lost) end.wire = undefined;
        await unwire(link).catch(async (error: unknown) => {
          await this.#records.keep(project, link.kept);
          await noted.settle();
          throw error;
        });
        await noted.settle();
      } catch (error) {
        link.leaving = false;
        throw error;
      }
      this.#forget(project, link);
    });
  }

  /** Forgets the links of a node whose record is deleted. Rejections by computes are ignored. */
  async forgetAll(project: Project, links: readonly Link[], noted: NotedNios): Promise<void> {
    for (const link of links) {
      await discardWire(link);
      this.#forget(project, link);
    }
    await noted.settle();
  }

  #forget(project: Project, link: Link): void {
    link.endCapture();
    project.detach(link);
    project.links.delete(link.id);
    this.#records.announce('link.deleted', link);
  }
}

interface LinkChange {
  link: Link;
  wanted: LinkSettings;
  /** Only those that change. */
  labels: ReadonlyMap<LinkEnd, Label>;
}

/** Gives a link's wire its present settings. */
async function applySettings(link: Link): Promise<void> {
  const { settings } = link;
  await rewire(link, settings);
  await impairLine(link, settings.impairments);
}

/** Gives a link's wire other settings on its computes; `undo` restores the present ones. */
async function updateWire({ link, wanted }: LinkChange, undo: AsyncDisposableStack): Promise<void> {
  const { settings } = link;
  const doubt = (): void => {
    link.uncertain = true;
  };
  if (link.uncertain || !isDeepStrictEqual(wireOf(wanted), wireOf(settings))) {
    undo.defer(() => rewire(link, settings).catch(doubt));
    await rewire(link, wanted);
  }
  if (link.uncertain || !isDeepStrictEqual(wanted.impairments, settings.impairments)) {
    undo.defer(() => impairLine(link, settings.impairments).catch(doubt));
    await impairLine(link, wanted.impairments);
  }
}

/** The settings with the given ones replaced. */
function changed(settings: LinkSettings, { filters, impairments, link_style: style, suspend }: LinkBody): LinkSettings {
  return {
    filters: filters === undefined ? settings.filters : normalizedFilters(filters),
    impairments: impairments === undefined ? settings.impairments : linkImpairments(impairments),
    style: style === undefined ? settings.style : requestedStyle(style),
    suspended: suspend ?? settings.suspended,
  };
}

/** The settings that a link's NIOs depend on. */
function wireOf({ filters, suspended }: LinkSettings): object {
  return { filters, suspended };
}

/**
 * The given labels, by end.
 * @throws Failure `not-found` if the node is not in the project
 */
function changedLabels(project: Project, link: Link, { nodes = [] }: LinkBody): Map<LinkEnd, Label> {
  const labels = new Map<LinkEnd, Label>();
  for (const body of nodes) {
    const node = project.node(body.node_id);
    const end = link.ends.find((candidate) => candidate.node === node);
    if (end && body.label && Object.keys(body.label).length > 0) labels.set(end, body.label);
  }
  return labels;
}
