// Starts, stops, resumes and streams captures of links.
import { join } from 'node:path';
import type { LinkCapture } from '../../api/routes/links.ts';
import { conflict, Failure, ignore, messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import type { Connected } from '../../http/app/route.ts';
import { feedBytes } from '../../http/sockets/byte-feed.ts';
import { joinSockets } from '../../http/sockets/message-socket.ts';
import { CAPTURES_DIRECTORY } from '../../store/captures.ts';
import { ComputeRefusal, refusalOf } from '../computes/answers.ts';
import { capturingEnd, defaultFileName, extensionMembers, followingName } from '../links/capturing.ts';
import { keptLink, type Link, type LinkEnd } from '../links/link.ts';
import { portPath } from '../links/wiring.ts';
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
   * @throws Failure `conflict` for a captured link, and when neither end runs, or none supports the request
   */
  start(project: Project, id: string, given: LinkCapture): Promise<Link> {
    return changeLink(project, id, (link) => this.#startNow(project, link, given));
  }

  async #startNow(project: Project, link: Link, given: LinkCapture): Promise<Link> {
    // Its other end could be free, and start a capture that no client can stop.
    if (link.capture?.end)
      throw conflict(`The link is already captured to ${link.capture.fileName}: stop that capture first.`);
    const { data_link_type, capture_file_name, ...extensions } = given;
    const end = await capturingEnd(link, extensions);
    const fileName = capture_file_name || defaultFileName(link, extensions);
    const request = { ...given, capture_file_name: fileName };
    try {
      await end.node.compute.post(portPath(end, 'start_capture'), {
        body: { capture_file_name: fileName, data_link_type, ...extensionMembers(link, end, extensions) },
      });
      await this.#records.keep(project, keptLink(link.record, request));
    } catch (error) {
      // Unless the compute rejected it, the capture may have begun.
      if (!(error instanceof ComputeRefusal)) {
        await end.node.compute.post(portPath(end, 'stop_capture'), { connect: false }).catch(ignore);
      }
      throw error;
    }
    const filePath = join(project.record.path, CAPTURES_DIRECTORY, fileName);
    this.#forgetReplaced(project, fileName, end.node.compute);
    link.captures = [...link.captures, { fileName, filePath, request, end, writer: end.node.compute }];
    this.#records.announce('link.updated', link);
    return link;
  }

  /** Forgets the ended captures, of any link, whose file a new capture replaced. */
  #forgetReplaced(project: Project, name: string, compute: Node['compute']): void {
    for (const link of project.links.values()) {
      const { capture } = link;
      link.captures = link.captures.filter(
        ({ fileName, writer, end }) => end !== undefined || fileName !== name || writer !== compute,
      );
      if (link.capture !== capture) this.#records.announce('link.updated', link);
    }
  }

  /** Nodes of a link were recreated, which ends its capture; `resume` continues it. */
  async interrupt(link: Link, lost: ReadonlySet<Node>): Promise<void> {
    const { capture } = link;
    if (!capture?.end) return;
    link.formerCapture = capture.request;
    if (!lost.has(capture.end.node)) {
      await capture.end.node.compute.post(portPath(capture.end, 'stop_capture')).catch(ignore);
    }
    link.endCapture();
    this.#records.announce('link.updated', link);
  }

  /** Resumes a capture of a previous run of this server or the compute in a new file; the old file stays. */
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

  /** Stops the capture. A link without a capture is announced and returned all the same. */
  stop(project: Project, id: string): Promise<Link> {
    return changeLink(project, id, (link) => this.#stopNow(project, link));
  }

  async #stopNow(project: Project, link: Link): Promise<Link> {
    const { capture } = link;
    const end = capture?.end;
    if (capture && end) {
      // On disk first: a server that is killed in between does not resume the capture.
      await this.#records.keep(project, keptLink(link.record, undefined));
      try {
        const { compute } = end.node;
        await compute.retryOnce((connect) => compute.post(portPath(end, 'stop_capture'), { connect }));
      } catch (error) {
        // A rejection means that the compute has no such capture (any more).
        if (!(error instanceof ComputeRefusal)) {
          await this.#records.keep(project, link.kept).catch(ignore);
          throw error;
        }
      }
      link.endCapture();
    }
    this.#records.announce('link.updated', link);
    return link;
  }

  /**
   * Streams the growing capture from about `last` bytes before its end.
   * @throws Failure `conflict` unless the link is captured
   */
  async pcap(link: Link, signal: AbortSignal, last?: number): Promise<Response> {
    const end = capturedEnd(link);
    // No time limit: an emulator may send nothing before the first frame.
    const answer = await end.node.compute.pass('GET', portPath(end, 'pcap') + lastQuery(last), { signal, limit: 0 });
    if (answer.status >= 300) throw refusalOf(answer.status, await answer.text(), 'GET pcap');
    return answer;
  }

  /** As `pcap`, over a WebSocket. */
  async pcapSocket(link: Link, last: number | undefined): Promise<Connected> {
    const end = capturedEnd(link);
    const { compute } = end.node;
    if (compute.id === 'local') {
      const near = await compute.openSocket(portPath(end, 'pcap/ws') + lastQuery(last));
      return (socket) => joinSockets(socket, near);
    }
    // From other hosts over HTTP, which has backpressure: their WebSockets cannot be slowed down to the client's speed.
    const leaving = new AbortController();
    const reader = (await this.pcap(link, leaving.signal, last)).body!.getReader();
    return (socket) =>
      void feedBytes(socket, {
        read: async () => (await reader.read()).value,
        close: async () => leaving.abort(),
        end: 'The capture has ended.',
      });
  }

  /** Ends the captures at a node that has stopped, each when it is its link's turn. */
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
  if (!end) throw conflict('The link is not captured: start a capture first.');
  return end;
}

function lastQuery(last: number | undefined): string {
  return last === undefined ? '' : `?last=${last}`;
}
