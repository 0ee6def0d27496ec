// Moves a node to another host, with its files and links.
import { isDeepStrictEqual } from 'node:util';
import { DISK_CHECKPOINT, isOfCheckpoint, restoredPath } from '../../api/disk-checkpoint.ts';
import { nodeKind } from '../../api/kinds/kinds.ts';
import type { NodeCreate, NodeUpdate } from '../../api/routes/nodes.ts';
import { conflict, invalid, messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import type { Compute } from '../computes/compute.ts';
import { copyFolder } from '../computes/project-files.ts';
import type { Link } from '../links/link.ts';
import { discardWire } from '../links/wiring.ts';
import { takeCheckpoint } from '../nodes/checkpoint.ts';
import type { ConsoleForwards } from '../nodes/console-forwards.ts';
import { Node, type NodeRecord, withComputeState } from '../nodes/node.ts';
import { movedNode } from './claims.ts';
import type { HostNumbers } from './host-numbers.ts';
import { computeEntry, hostProject } from './hosting.ts';
import type { LabWriter } from './lab-writer.ts';
import type { Links } from './links.ts';
import type { NodeRecords } from './node-records.ts';
import type { Trace } from './pending-remote-changes.ts';
import type { Project } from './project.ts';

/** A copy of a node's files that was sent to a host. */
export interface Restored {
  /** When the files were like that. */
  taken: Date;
  /** Files that the copy does not have: they were too large, or too many. */
  missing: number;
}

export interface NodeMovesOptions {
  records: NodeRecords;
  writer: LabWriter;
  links: Links;
  numbers: HostNumbers;
  forwards: ConsoleForwards;
  /** Creates a node on its compute and returns the compute's answer. */
  place(project: Project, node: Node, properties: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** Sends the last copy of the files of a node whose host is unreachable; undefined without one. */
  restore(project: Project, node: Node, target: Compute): Promise<Restored | undefined>;
}

export class NodeMoves {
  readonly #options: NodeMovesOptions;

  constructor(options: NodeMovesOptions) {
    this.#options = options;
  }

  /**
   * Moves a node that is stopped or whose host is unreachable. An unreachable host removes the node when it is back.
   * @param given the request; it may change nothing but the host
   * @throws Failure `invalid` for other changes, `conflict` for a running node or an unreachable target, or the
   * target's rejection; the
   *   node then stays where it was
   */
  move(project: Project, id: string, target: Compute, given: NodeUpdate): Promise<Node> {
    const known = project.nodes.get(id);
    const links = known ? project.linksOf(known).map((link) => link.id) : [];
    return project.changes.run(movedNode(id, links), async () => {
      const node = project.node(id);
      if (node.compute === target) return node;
      target.requireAccepting();
      refuseOthers(node, given);
      await target.ready();
      // A host that has come back knows whether the node runs.
      const isReachable = await node.compute.ready().then(
        () => true,
        () => false,
      );
      refuseStaying(node);
      await this.#moveNow(project, node, { target, isReachable });
      return node;
    });
  }

  async #moveNow(
    project: Project,
    node: Node,
    { target, isReachable }: { target: Compute; isReachable: boolean },
  ): Promise<void> {
    const { records, writer } = this.#options;
    const { compute: source, path } = node;
    using departure = await project.remoteChanges.begin(source, project.id, path);
    using arrival = await project.remoteChanges.begin(target, project.id, path);
    await using undo = new AsyncDisposableStack();
    undo.defer(async () => {
      await departure.settle();
      await removed(target, path, arrival);
    });
    await hostProject(project, target);
    let restored: Restored | undefined;
    if (isReachable) {
      await hostProject(project, source);
      await this.#sendFiles(project, node, target);
    } else restored = await this.#options.restore(project, node, target);
    using numbered = this.#numbered(project, node, target);
    const arrived = new Node(project.id, target, numbered.record);
    arrived.macNumber = node.macNumber;
    // Without its files it keeps at least the texts from its creation.
    const properties = isReachable || restored ? arrived.lastingProperties : arrived.record.properties;
    const object = await this.#options.place(project, arrived, { ...properties });
    const record = withComputeState(arrived.record, object, () => node.name);
    await this.#settleIn(project, node, { target, record, object }, undo);
    await writer.apply(project.record, [{ node: node.record }, ...computeEntry(target)]);
    undo.move();
    await arrival.settle();
    Object.assign(node, { macNumber: arrived.macNumber, countsItself: arrived.countsItself });
    await this.#options.forwards.follow(node);
    records.announce('node.updated', node);
    if (isReachable) await removed(source, path, departure);
    else {
      const message = `${node.name} was moved to the host ${target.name} ${filesOf(restored)}: the host ${source.name} cannot be reached, and removes its own when it is back.`;
      records.tell(project, 'log.warning', message);
    }
  }

  /** @throws Failure `conflict` if what the node has changed outside its directory cannot be copied */
  async #sendFiles(project: Project, node: Node, target: Compute): Promise<void> {
    const { movesWithCheckpoint } = nodeKind(node.type);
    if (movesWithCheckpoint) {
      const isTaken = await takeCheckpoint(node, { stopped: true }).catch((error: unknown) => {
        throw conflict(
          `compute_id: ${node.name} has files outside its volumes that cannot be copied: ${messageOf(error)}. Delete them there, or keep them in a volume (extra_volumes).`,
          { cause: error },
        );
      });
      if (!isTaken)
        this.#options.records.tell(
          project,
          'log.warning',
          `${node.name} is moved without its files outside its volumes: the host ${node.compute.name} runs an older release.`,
        );
    }
    await copyFolder(node.compute, target, {
      projectId: project.id,
      folder: `project-files/${node.type}/${node.id}`,
      placeOf: (path) => {
        if (!path.includes(`/${DISK_CHECKPOINT}/`)) return path;
        // Disks are files of the directory, and newer.
        return movesWithCheckpoint && isOfCheckpoint(path) ? restoredPath(path) : undefined;
      },
    });
  }

  /** The record for the target host, which assigns console port and numbers itself. */
  #numbered(project: Project, { record }: Node, target: Compute): Disposable & { record: NodeRecord } {
    const moved: NodeRecord = { ...record, compute_id: target.id, console: null };
    const given = this.#options.numbers.number(project, target, moved as unknown as NodeCreate, { keeps: true });
    const properties = { ...given.node.properties };
    return { record: { ...moved, properties }, [Symbol.dispose]: () => given[Symbol.dispose]() };
  }

  /** Registers the node on the target and rewires its links there; disposing of `undo` rolls this back. */
  async #settleIn(
    project: Project,
    node: Node,
    { target, record, object }: { target: Compute; record: NodeRecord; object: Record<string, unknown> },
    undo: AsyncDisposableStack,
  ): Promise<void> {
    const { compute, absent, lost, status, commandLine, directory } = node;
    const before = { compute, absent, lost, record: node.record, status, commandLine, directory };
    const links = project.linksOf(node).filter((link) => !link.leaving);
    const wires = new Map(links.map((link) => [link, endAt(link, node)?.wire]));
    undo.defer(async () => {
      for (const link of links) await discardWire(link, new Set([node]));
      Object.assign(node, before);
      for (const link of links) {
        const end = endAt(link, node);
        if (end) end.wire = wires.get(link);
        if (link.unwirable) continue;
        await this.#options.links.renew(project, link, new Set()).catch((error: unknown) => {
          link.uncertain = true;
          log.warn('node: a link is not wired again', { link: link.id, reason: messageOf(error) });
        });
      }
    });
    Object.assign(node, { compute: target, absent: undefined, record });
    node.applyRuntime(object);
    for (const link of links) {
      const end = endAt(link, node);
      if (!link.unwirable) await this.#options.links.renew(project, link, new Set([node]));
      // The other end's host is unreachable: the link is wired when that is back, or when its node is moved as well.
      else if (end) end.wire = undefined;
    }
  }
}

function filesOf(restored: Restored | undefined): string {
  if (!restored) return 'without its files';
  const { taken, missing } = restored;
  const larger = missing === 0 ? '' : ` (${missing} not in the copy ${missing === 1 ? 'is' : 'are'} missing)`;
  return `with its files of ${taken.toISOString().slice(0, 19).replace('T', ' ')} UTC${larger}`;
}

function endAt(link: Link, node: Node) {
  return link.ends.find((end) => end.node === node);
}

/** Removes the node from a host. A failed removal stays noted and is repeated when the host is back. Never rejects. */
async function removed(compute: Compute, path: string, trace: Trace): Promise<void> {
  try {
    await compute.remove(path);
    await trace.settle();
  } catch (error) {
    log.warn('node: a moved node stays on a host', { compute: compute.id, path, reason: messageOf(error) });
  }
}

/** @throws Failure `invalid` for changes of anything but the host */
function refuseOthers(node: Node, given: NodeUpdate): void {
  const object = node.json() as Record<string, unknown>;
  const others = Object.entries(given).filter(
    ([member, value]) =>
      !['compute_id', 'lost_reason', 'halt_reason'].includes(member) && !isDeepStrictEqual(value, object[member]),
  );
  if (others.length === 0) return;
  const names = others.map(([member]) => member).join(', ');
  throw invalid(`compute_id: a node is moved by a request of its own; leave out ${names}.`);
}

/** @throws Failure `conflict` for a node that cannot be moved in its present state */
function refuseStaying(node: Node): void {
  if (nodeKind(node.type).staysOnHost) {
    throw conflict(`compute_id: ${node.name} is a virtual machine of ${node.type}, which stays on its host.`);
  }
  if (node.status !== 'stopped' && !node.alwaysRunning) {
    throw conflict(`compute_id: ${node.name} is ${node.status}; stop it before moving it.`);
  }
}
