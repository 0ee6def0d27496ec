// Captures of links: started, stopped, gone on with, and read as they grow.
import { join } from 'node:path';
import { Failure, messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import type { Connected } from '../../http/app/route.ts';
import { feedBytes } from '../../http/sockets/byte-feed.ts';
import { joinSockets } from '../../http/sockets/message-socket.ts';
import { CAPTURES_DIRECTORY } from '../../store/captures.ts';
import { ComputeRefusal, refusalOf } from '../computes/answers.ts';
import { followingName } from '../links/capture-names.ts';
import { capturingEnd, defaultFileName, extensionMembers } from '../links/capturing.ts';
import { keptLink, type Link, type LinkEnd } from '../links/link.ts';
import type { LinkCapture } from '../links/schema.ts';
import { capturePath } from '../links/wiring.ts';
import type { Node } from '../nodes/node.ts';
import { changeLink, type LinkRecords } from './link-changes.ts';
import type { Project } from './project.ts';

export class LinkCaptures {
  readonly #records: LinkRecords;

  constructor(records: LinkRecords) {
    this.#records = records;
  }

  /**
   * Starts a capture at the end that suits best.
   * @throws Failure `conflict` when neither end runs, or none that can do what is asked
   */
  start(project: Project, id: string, given: LinkCapture): Promise<Link> {
    return changeLink(project, id, (link) => this.#startNow(project, link, given));
  }

  async #startNow(project: Project, link: Link, given: LinkCapture): Promise<Link> {
    const { data_link_type, capture_file_name, ...extensions } = given;
    const end = await capturingEnd(link, extensions);
    const fileName = capture_file_name || defaultFileName(link, extensions);
    const request = { ...given, capture_file_name: fileName };
    try {
      await end.node.compute.post(capturePath(end, 'start_capture'), {
        body: { capture_file_name: fileName, data_link_type, ...extensionMembers(link, end, extensions) },
      });
      await this.#records.keep(project, keptLink(link.record, request));
    } catch (error) {
      // Unless it was refused it may have begun.
      if (!(error instanceof ComputeRefusal)) {
        await end.node.compute.post(capturePath(end, 'stop_capture'), { connect: false }).catch(noop);
      }
      throw error;
    }
    const filePath = join(project.record.path, CAPTURES_DIRECTORY, fileName);
    link.capture = { fileName, filePath, request, end, writer: end.node.compute };
    this.#records.announce('link.updated', link);
    return link;
  }

  /** The nodes of a link were made anew: its capture has ended with them, or ends now, and goes on with `resume`. */
  async interrupt(link: Link, lost: ReadonlySet<Node>): Promise<void> {
    const { capture } = link;
    if (!capture?.end) return;
    link.formerCapture = capture.request;
    if (!lost.has(capture.end.node)) {
      await capture.end.node.compute.post(capturePath(capture.end, 'stop_capture')).catch(noop);
    }
    link.capture = { ...capture, end: undefined };
    this.#records.announce('link.updated', link);
  }

  /** Goes on with the capture that ran in a former life of this server or of the compute, in a file of its own: the old one stays. */
  async resume(project: Project, link: Link): Promise<void> {
    const { formerCapture: request } = link;
    link.formerCapture = undefined;
    if (!request) return;
    try {
      const name = await followingName(join(project.record.path, CAPTURES_DIRECTORY), request.capture_file_name ?? '');
      await this.#startNow(project, link, { ...request, capture_file_name: name });
    } catch (error) {
      await this.#records.keep(project, link.kept);
      const [one, other] = link.ends.map(({ node }) => node.name);
      this.#records.complain(project, `The capture between ${one} and ${other} does not go on: ${messageOf(error)}`);
    }
  }

  /** Ends the capture; the link without one is announced and given all the same. */
  stop(project: Project, id: string): Promise<Link> {
    return changeLink(project, id, (link) => this.#stopNow(project, link));
  }

  async #stopNow(project: Project, link: Link): Promise<Link> {
    const { capture } = link;
    const end = capture?.end;
    if (capture && end) {
      // First on the disk: a server that is killed in between does not go on with it.
      await this.#records.keep(project, keptLink(link.record, undefined));
      try {
        const { compute } = end.node;
        await compute.retryOnce((connect) => compute.post(capturePath(end, 'stop_capture'), { connect }));
      } catch (error) {
        // A compute that refuses knows of no capture (any more).
        if (!(error instanceof ComputeRefusal)) {
          await this.#records.keep(project, link.kept).catch(noop);
          throw error;
        }
      }
      link.capture = { ...capture, end: undefined };
    }
    this.#records.announce('link.updated', link);
    return link;
  }

  /** The capture as it grows, from about `last` bytes before its end. @throws Failure `conflict` unless the link is captured */
  async pcap(link: Link, signal: AbortSignal, last?: number): Promise<Response> {
    const end = capturedEnd(link);
    // Without a limit: an emulator may say nothing before the first frame.
    const answer = await end.node.compute.pass('GET', capturePath(end, 'pcap') + lastQuery(last), { signal, limit: 0 });
    if (answer.status >= 300) throw refusalOf(answer.status, await answer.text(), 'GET pcap');
    return answer;
  }

  /** The same over a WebSocket. */
  async pcapSocket(link: Link, last: number | undefined): Promise<Connected> {
    const end = capturedEnd(link);
    const { compute } = end.node;
    if (compute.id === 'local') {
      const near = await compute.openSocket(capturePath(end, 'pcap/ws') + lastQuery(last));
      return (socket) => joinSockets(socket, near);
    }
    // From elsewhere only as fast as the client reads, which sockets of other hosts could not be told.
    const leaving = new AbortController();
    const reader = (await this.pcap(link, leaving.signal, last)).body!.getReader();
    return (socket) =>
      void feedBytes(socket, {
        read: async () => (await reader.read()).value,
        close: async () => leaving.abort(),
        end: 'The capture has ended.',
      });
  }

  /** A node changed: the captures at a node that no longer runs end, each when the turn of its link comes. */
  nodeChanged(project: Project, node: Node): void {
    if (node.status !== 'stopped') return;
    for (const { id } of project.linksOf(node)) {
      changeLink(project, id, async (link) => {
        if (node.status === 'stopped' && link.capture?.end?.node === node) await this.#stopNow(project, link);
      }).catch((error: unknown) => {
        if (error instanceof Failure && (error.code === 'not-found' || error.code === 'forbidden')) return;
        log.error('the end of a capture cannot be kept', { project: project.id, link: id, error: messageOf(error) });
      });
    }
  }
}

/** @throws Failure `conflict` unless the link is captured */
function capturedEnd(link: Link): LinkEnd {
  const end = link.capture?.end;
  if (!end) throw new Failure('conflict', 'The link is not captured: start a capture first.');
  return end;
}

function lastQuery(last: number | undefined): string {
  return last === undefined ? '' : `?last=${last}`;
}

const noop = (): void => {};
