// What can be done with links: create, change, delete, capture.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Failure, messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import { nodeKind } from '../../store/node-kinds/kinds.ts';
import { ComputeRefusal } from '../computes/answers.ts';
import type { Announcer } from '../events.ts';
import { followingName } from '../links/capture-names.ts';
import { capturingEnd, defaultFileName, extensionMembers } from '../links/capturing.ts';
import { type Filters, normalizedFilters } from '../links/filters.ts';
import { type LinkImpairments, linkImpairments, plainStyle } from '../links/impairments.ts';
import { impairLine } from '../links/lines.ts';
import { defaultEndLabel, Link, type LinkEnd } from '../links/link.ts';
import type { LinkBody, LinkCapture, LinkEndBody } from '../links/schema.ts';
import { capturePath, loosen, renewWire, rewire, unwire, wire } from '../links/wiring.ts';
import type { Node } from '../nodes/node.ts';
import { newLink, wholeLink } from './claims.ts';
import type { LabWriter } from './lab-writer.ts';
import type { Project } from './project.ts';

/** Below the project's directory. */
const CAPTURES = 'project-files/captures';

/** What a link is to become. */
export interface LinkPlan {
  ends: readonly LinkEndBody[];
  filters: Filters;
  style: Record<string, unknown>;
  suspended: boolean;
  impairments: LinkImpairments;
  /** Computes on other hosts may still have the wires of a former life of this server. */
  loose?: boolean;
}

export class Links {
  readonly #announcer: Announcer;
  readonly #writer: LabWriter;

  constructor({ announcer, writer }: { announcer: Announcer; writer: LabWriter }) {
    this.#announcer = announcer;
    this.#writer = writer;
  }

  #announce(action: 'link.created' | 'link.updated' | 'link.deleted', link: Link): void {
    this.#announcer.project.emit(action, link.json(), link.projectId);
  }

  /**
   * Creates a link and wires it when it has two ends.
   * @throws Failure of the first check that an end does not pass, or of a compute; nothing is left behind then
   */
  create(project: Project, given: LinkBody): Promise<Link> {
    const { nodes: ends } = given;
    const id = randomUUID();
    return project.changes.run(newLink(id, ends ?? []), async () => {
      project.requireOpen();
      if (ends === undefined) throw new Failure('invalid', 'nodes: is required: the two ends of the link.');
      const link = new Link(project.id, id);
      const wanted = {
        ends,
        filters: normalizedFilters(given.filters ?? {}),
        style: plainStyle(given.link_style ?? {}),
        suspended: given.suspend ?? false,
        impairments: linkImpairments(given.impairments ?? null),
      };
      await this.build(project, link, wanted, () => this.#persist(project, link));
      return link;
    });
  }

  /** Runs a change of a link when its turn comes: its nodes stay until it has ended. @throws Failure `not-found` when it is gone by then */
  change<T>(project: Project, id: string, task: (link: Link) => Promise<T>): Promise<T> {
    const known = project.links.get(id);
    const nodeIds = known?.ends.map(({ node }) => node.id) ?? [];
    return project.changes.run(wholeLink(id, nodeIds), () => task(project.link(id)));
  }

  /** Builds a link in memory and on the computes, keeps it, and announces it; used by creation and by opening. */
  async build(project: Project, link: Link, given: LinkPlan, keep: () => Promise<void>): Promise<void> {
    await using undo = new AsyncDisposableStack();
    project.links.set(link.id, link);
    undo.defer(() => {
      project.detach(link);
      project.links.delete(link.id);
      this.#announce('link.deleted', link);
    });
    link.filters = given.filters;
    link.impairments = given.impairments;
    link.style = given.style;
    if (Object.keys(link.style).length > 0) this.#announce('link.updated', link);
    link.suspended = given.suspended;
    if (link.suspended) this.#announce('link.updated', link);
    const ends: LinkEnd[] = [];
    for (const body of given.ends) ends.push(this.#end(project, ends, body));
    link.ends = ends;
    if (ends.length >= 2) {
      // Before the computes are asked, so that a second request for one of these ports is refused meanwhile.
      project.attach(link);
      if (given.loose) await loosen(link);
      await wire(link);
      undo.defer(() => unwire(link).catch(noop));
      await impairLine(link);
    }
    await keep();
    undo.move();
    if (ends.length < 2) return;
    link.created = true;
    this.#announce('link.created', link);
  }

  /** One end, after all checks in the release's order. */
  #end(project: Project, others: readonly LinkEnd[], body: LinkEndBody): LinkEnd {
    const node = project.node(body.node_id);
    const port = node.port(body.adapter_number, body.port_number);
    const place = `${node.name} adapter ${body.adapter_number} port ${body.port_number}`;
    if (!port) throw new Failure('not-found', `nodes: ${place} does not exist.`);
    if (project.linkAt(node, body.adapter_number, body.port_number)) {
      throw new Failure('conflict', `nodes: ${place} is already linked; delete that link first.`);
    }
    const [other] = others;
    if (other) {
      if (other.node === node)
        throw new Failure('conflict', `nodes: both ends are ${node.name}; a link joins two nodes.`);
      if (nodeKind(node.type).leadsOut && nodeKind(other.node.type).leadsOut) {
        throw new Failure('conflict', 'nodes: a cloud or NAT cannot be joined to another one.');
      }
      if (other.port.link_type !== port.link_type) {
        throw new Failure(
          'conflict',
          `nodes: ${place} is ${port.link_type}, the other end ${other.port.link_type}; both must be of one kind.`,
        );
      }
    }
    return { node, port, label: body.label ?? defaultEndLabel(port) };
  }

  #persist(project: Project, link: Link): Promise<void> {
    return this.#writer.apply(project.record, [{ link: link.kept }]);
  }

  /** Changes filters, style, suspension and labels, all or none; each aspect that really changes is announced. */
  update(project: Project, id: string, given: LinkBody): Promise<Link> {
    return this.change(project, id, (link) => this.#updateNow(project, link, given));
  }

  async #updateNow(project: Project, link: Link, given: LinkBody): Promise<Link> {
    const filters = given.filters === undefined ? link.filters : normalizedFilters(given.filters);
    const impairments = given.impairments === undefined ? link.impairments : linkImpairments(given.impairments);
    const style = given.link_style === undefined ? link.style : plainStyle(given.link_style);
    const labels = (given.nodes ?? []).map((body) => ({ node: project.node(body.node_id), body }));
    const record = structuredClone(link.record);
    const before = {
      filters: link.filters,
      impairments: link.impairments,
      style: link.style,
      suspended: link.suspended,
    };
    await using undo = new AsyncDisposableStack();
    undo.defer(() => {
      if (!isDeepStrictEqual(record, link.record)) this.#announce('link.updated', link);
    });
    if (!isDeepStrictEqual(filters, link.filters)) {
      await this.#follow(link, { filters });
      undo.defer(() => this.#follow(link, { filters: before.filters }).catch(noop));
    }
    if (!isDeepStrictEqual(impairments, link.impairments)) {
      await this.#impair(link, impairments);
      undo.defer(() => this.#impair(link, before.impairments).catch(noop));
    }
    if (!isDeepStrictEqual(style, link.style)) {
      link.style = style;
      undo.defer(() => void Object.assign(link, { style: before.style }));
      this.#announce('link.updated', link);
    }
    const { suspend } = given;
    if (suspend !== undefined && suspend !== link.suspended) {
      await this.#follow(link, { suspended: suspend });
      undo.defer(() => this.#follow(link, { suspended: before.suspended }).catch(noop));
    }
    for (const { node, body } of labels) {
      const end = link.ends.find((candidate) => candidate.node === node);
      if (!end || !body.label || Object.keys(body.label).length === 0) continue;
      const { label } = end;
      undo.defer(() => void Object.assign(end, { label }));
      end.label = body.label;
    }
    if (labels.length > 0) this.#announce('link.updated', link);
    if (!isDeepStrictEqual(record, link.record)) await this.#persist(project, link);
    undo.move();
    return link;
  }

  /** Replaces the impairments; a compute that refuses them leaves those that were there. */
  async #impair(link: Link, wanted: LinkImpairments): Promise<void> {
    const { impairments } = link;
    link.impairments = wanted;
    try {
      await impairLine(link);
    } catch (error) {
      link.impairments = impairments;
      if (!(error instanceof ComputeRefusal)) await impairLine(link).catch(noop);
      throw error;
    }
    if (link.created) this.#announce('link.updated', link);
  }

  /** A change that the computes must follow; one that they refuse is taken back. */
  async #follow(link: Link, wanted: Partial<Pick<Link, 'filters' | 'suspended'>>): Promise<void> {
    const { filters, suspended } = link;
    Object.assign(link, wanted);
    try {
      await rewire(link);
    } catch (error) {
      Object.assign(link, { filters, suspended });
      await rewire(link).catch(noop);
      throw error;
    }
    if (link.created) this.#announce('link.updated', link);
  }

  /**
   * Wires a link anew, after nodes at its ends were made anew; a capture of it goes on in a new file.
   * @throws Failure of a compute; the link is there all the same, and can be renewed again
   */
  async renew(project: Project, link: Link, lost: ReadonlySet<Node>): Promise<void> {
    const end = link.capture?.end;
    if (link.capture && end) {
      link.formerCapture = link.capture.request;
      if (!lost.has(end.node)) await end.node.compute.post(capturePath(end, 'stop_capture')).catch(noop);
      link.capture.end = undefined;
      this.#announce('link.updated', link);
    }
    await renewWire(link, lost);
    await impairLine(link);
    await this.resumeCapture(project, link);
  }

  delete(project: Project, id: string): Promise<void> {
    return this.change(project, id, async (link) => {
      link.leaving = true;
      try {
        // First on the disk: when that fails nothing has happened, and a compute's refusal can be made good there.
        await this.#writer.apply(project.record, [{ delete: 'link', id }]);
        await unwire(link).catch(async (error: unknown) => {
          await this.#persist(project, link);
          throw error;
        });
      } catch (error) {
        link.leaving = false;
        throw error;
      }
      this.#forget(project, link);
    });
  }

  /** Forgets the links of a node that has gone from the disk, and they with it: what their computes refuse does not matter then. */
  async forgetAll(project: Project, links: readonly Link[]): Promise<void> {
    for (const link of links) {
      await unwire(link).catch(noop);
      this.#forget(project, link);
    }
  }

  #forget(project: Project, link: Link): void {
    if (link.capture) link.capture.end = undefined;
    project.detach(link);
    project.links.delete(link.id);
    this.#announce('link.deleted', link);
  }

  /**
   * Starts a capture at the end that suits best.
   * @throws Failure `conflict` when neither end runs, or none that can do what is asked
   */
  startCapture(project: Project, id: string, given: LinkCapture): Promise<Link> {
    return this.change(project, id, (link) => this.#startCaptureNow(project, link, given));
  }

  async #startCaptureNow(project: Project, link: Link, given: LinkCapture): Promise<Link> {
    const { data_link_type, capture_file_name, ...extensions } = given;
    const end = await capturingEnd(link, extensions);
    const fileName = capture_file_name || defaultFileName(link, extensions);
    await using undo = new AsyncDisposableStack();
    const { capture } = link;
    undo.defer(() => {
      link.capture = capture;
    });
    try {
      await end.node.compute.post(capturePath(end, 'start_capture'), {
        body: { capture_file_name: fileName, data_link_type, ...extensionMembers(link, end, extensions) },
      });
      const request = { ...given, capture_file_name: fileName };
      link.capture = { fileName, filePath: join(project.record.path, CAPTURES, fileName), request, end };
      await this.#persist(project, link);
    } catch (error) {
      // Unless it was refused it may have begun.
      if (!(error instanceof ComputeRefusal)) {
        await end.node.compute.post(capturePath(end, 'stop_capture'), { connect: false }).catch(noop);
      }
      throw error;
    }
    undo.move();
    this.#announce('link.updated', link);
    return link;
  }

  /** Goes on with the capture that ran in a former life of this server or of the compute, in a file of its own: the old one stays. */
  async resumeCapture(project: Project, link: Link): Promise<void> {
    const { formerCapture: request } = link;
    link.formerCapture = undefined;
    if (!request) return;
    try {
      const name = await followingName(join(project.record.path, CAPTURES), request.capture_file_name ?? '');
      await this.#startCaptureNow(project, link, { ...request, capture_file_name: name });
    } catch (error) {
      await this.#persist(project, link);
      const [one, other] = link.ends.map(({ node }) => node.name);
      const message = `The capture between ${one} and ${other} does not go on: ${messageOf(error)}`;
      this.#announcer.project.emit('log.error', { message }, project.id);
    }
  }

  /** Ends the capture; the link without one is announced and given all the same. */
  stopCapture(project: Project, id: string): Promise<Link> {
    return this.change(project, id, (link) => this.#stopCaptureNow(project, link));
  }

  async #stopCaptureNow(project: Project, link: Link): Promise<Link> {
    const end = link.capture?.end;
    if (link.capture && end) {
      const { capture } = link;
      await using undo = new AsyncDisposableStack();
      undo.defer(() => {
        capture.end = end;
      });
      capture.end = undefined;
      await this.#persist(project, link);
      try {
        const { compute } = end.node;
        await compute.insist((connect) => compute.post(capturePath(end, 'stop_capture'), { connect }));
      } catch (error) {
        // A compute that refuses knows of no capture (any more).
        if (!(error instanceof ComputeRefusal)) {
          capture.end = end;
          await this.#persist(project, link).catch(noop);
          throw error;
        }
      }
      undo.move();
    }
    this.#announce('link.updated', link);
    return link;
  }

  /** The capture as it grows. @throws Failure `conflict` unless the link is captured */
  async pcap(link: Link, signal: AbortSignal): Promise<Response> {
    const end = link.capture?.end;
    if (!end) throw new Failure('conflict', 'The link is not captured: start a capture first.');
    // Without a limit: an emulator may say nothing before the first frame.
    return end.node.compute.pass('GET', capturePath(end, 'pcap'), { signal, limit: 0 });
  }

  /** A node changed: the captures at a node that no longer runs end, each when the turn of its link comes. */
  nodeChanged(project: Project, node: Node): void {
    if (node.status !== 'stopped') return;
    for (const { id } of project.linksOf(node)) {
      this.change(project, id, async (link) => {
        if (node.status === 'stopped' && link.capture?.end?.node === node) await this.#stopCaptureNow(project, link);
      }).catch((error: unknown) => {
        if (error instanceof Failure && (error.code === 'not-found' || error.code === 'forbidden')) return;
        log.error('the end of a capture cannot be kept', { project: project.id, link: id, error: messageOf(error) });
      });
    }
  }
}

const noop = (): void => {};
