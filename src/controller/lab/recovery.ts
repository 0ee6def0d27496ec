// Recovers labs from the loss of a compute. While it is unreachable its nodes are lost, the rest of the lab goes on. A
// restarted compute knows none of its former nodes: they are recreated, stopped, with their ids, names, consoles and
// files, and rewired. Programs that outlived the compute are reattached; the others are stopped.
import { Failure, messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import { eachOf } from '../../host/values/each-of.ts';
import { mustBeList, mustBeObject } from '../computes/answers.ts';
import type { Compute } from '../computes/compute.ts';
import type { Announcer } from '../events.ts';
import type { Link } from '../links/link.ts';
import { hasMoved } from '../links/wiring.ts';
import type { Node } from '../nodes/node.ts';
import { hostProject } from './hosting.ts';
import type { Links } from './links.ts';
import type { Nodes } from './nodes.ts';
import type { PendingRemoteChanges } from './pending-remote-changes.ts';
import type { Project } from './project.ts';

/** Nodes queried on a compute at the same time. */
const AT_ONCE = 8;

function runningOf(nodes: ReadonlySet<Node>): number {
  return [...nodes].filter(({ status }) => status !== 'stopped').length;
}

export interface RecoveryOptions {
  nodes: Nodes;
  links: Links;
  announcer: Announcer;
  remoteChanges: PendingRemoteChanges;
  /** Opens a project. */
  open(project: Project): Promise<unknown>;
  /** Called when the nodes of open projects on a compute are known again. */
  recovered(): void;
}

export class Recovery {
  readonly #open: RecoveryOptions['open'];
  readonly #nodes: Nodes;
  readonly #links: Links;
  readonly #announcer: Announcer;
  readonly #remoteChanges: PendingRemoteChanges;
  readonly #recovered: RecoveryOptions['recovered'];

  constructor({ nodes, links, announcer, remoteChanges, open, recovered }: RecoveryOptions) {
    this.#open = open;
    this.#recovered = recovered;
    this.#nodes = nodes;
    this.#links = links;
    this.#announcer = announcer;
    this.#remoteChanges = remoteChanges;
  }

  /** The compute is unreachable: the status of its nodes is unknown from now on. */
  lost(compute: Compute, projects: readonly Project[]): void {
    for (const project of projects) {
      const nodes = project.nodesOn(compute).filter((node) => !node.leaving && !node.lost);
      if (nodes.length === 0) continue;
      for (const node of nodes) {
        node.lost = true;
        this.#announcer.project.emit('node.updated', node.json(), project.id);
      }
      const they = nodes.length === 1 ? 'Its node here is' : `Its ${nodes.length} nodes here are`;
      const fix = 'Start it again, or move them to another host; the rest of the lab runs on.';
      this.#tell(project, 'log.warning', `${compute.absence} ${they} lost until it is back. ${fix}`);
    }
  }

  /** Reconciles a compute with the projects that use it. Never rejects. */
  async run(compute: Compute, projects: readonly Project[]): Promise<void> {
    const open = projects.filter((project) => project.state === 'opened' && project.computes.has(compute));
    const coming = projects.filter((project) => project.isOpen && project.state !== 'opened');
    // Projects that a previous run left open and that did not reopen.
    const leftOpen = projects.filter((project) => project.leftOpen && project.state === 'closed');
    // The compute of this process ends with it.
    if (compute.id === 'local') return this.#remoteChanges.deleteHere(compute, projects);
    for (const project of coming) void this.#followOpening(project, compute);
    try {
      if (open.length === 0 && leftOpen.length === 0 && !(await this.#remoteChanges.concern(compute))) return;
      const list = mustBeList(await compute.get('/projects'), 'GET /projects');
      const known = new Set(list.map((entry) => entry['project_id']));
      await this.#remoteChanges.joined(compute, known, projects);
      for (const project of leftOpen.filter(({ id }) => known.has(id))) {
        log.info('a project of a former run is still open on a compute', { project: project.id, compute: compute.id });
        // Not awaited: a pending change of the project may itself wait for this compute.
        this.#open(project).catch((error: unknown) => {
          log.warn('a project of a former run does not open', { project: project.id, reason: messageOf(error) });
        });
      }
      for (const project of open) await this.#takeUp(project, compute, known.has(project.id));
      this.#recovered();
    } catch (error) {
      const reason = messageOf(error);
      log.warn('a compute is reachable again, but its labs cannot be restored', { compute: compute.id, reason });
    }
  }

  /** Recovers nodes found lost while their lab was opening. Never rejects. */
  async #followOpening(project: Project, compute: Compute): Promise<void> {
    await project.settled();
    const hasLost = () => project.nodesOn(compute).some((node) => node.lost);
    if (compute.connected && project.state === 'opened' && hasLost()) await this.run(compute, [project]);
  }

  async #takeUp(project: Project, compute: Compute, known: boolean): Promise<void> {
    const theirs = project.nodesOn(compute).filter((node) => !node.leaving);
    if (!known) project.hosts.delete(compute);
    // The lab was opened while the compute was unreachable: it may have the project from a previous run.
    else if (theirs.length > 0) await this.#attempt(project, 'The project', () => hostProject(project, compute));
    const wereLost = theirs.filter((node) => node.lost).length;
    const lost = new Set(known ? await this.#compare(project, theirs) : theirs);
    // Pending changes wait for this compute, so this must not wait for them; nodes that they delete are not recreated.
    for (const node of lost) {
      if (node.leaving) continue;
      await this.#attempt(project, `The node ${node.name} could not be brought back`, () =>
        this.#nodes.renew(project, node),
      );
    }
    for (const link of await this.#looseLinks(project, compute, lost)) {
      if (link.leaving) continue;
      const [one, other] = link.ends.map(({ node }) => node.name);
      await this.#attempt(project, `The link from ${one} to ${other} could not be wired again`, () =>
        this.#links.renew(project, link, lost),
      );
    }
    if (wereLost > 0) this.#tell(project, 'log.info', `The host ${compute.name} is back.`);
    if (lost.size > 0) {
      this.#tell(
        project,
        'log.warning',
        `The host ${compute.name} was restarted: ${runningOf(lost)} of its ${lost.size} nodes here went on running, the others are stopped.`,
      );
    }
    // Closed meanwhile: what was created after that must not stay.
    if (project.state !== 'opened') await compute.post(`/projects/${project.id}/close`).catch(() => {});
  }

  /** Links with an end on the compute whose wiring is out of date. */
  async #looseLinks(project: Project, compute: Compute, lost: ReadonlySet<Node>): Promise<Link[]> {
    const loose: Link[] = [];
    for (const link of project.links.values()) {
      if (!link.created || link.leaving || link.unwirable || !link.ends.some(({ node }) => node.compute === compute))
        continue;
      const cut = !link.wired || link.uncertain || link.ends.some(({ node }) => lost.has(node));
      if (cut || (await hasMoved(link).catch(() => false))) loose.push(link);
    }
    return loose;
  }

  /** Refreshes the nodes after missed notifications; returns those that the compute no longer has. */
  async #compare(project: Project, nodes: readonly Node[]): Promise<Node[]> {
    const lost: Node[] = [];
    await eachOf(nodes, AT_ONCE, async (node) => {
      try {
        const object = mustBeObject(await node.compute.get(node.path), `GET ${node.path}`);
        await this.#nodes.records.compare(project, node, object);
      } catch (error) {
        if (error instanceof Failure && error.code === 'not-found') lost.push(node);
        else log.warn('a node cannot be compared', { node: node.id, reason: messageOf(error) });
      }
    });
    return nodes.filter((node) => lost.includes(node));
  }

  async #attempt(project: Project, failed: string, work: () => Promise<void>): Promise<void> {
    if (project.state !== 'opened') return;
    try {
      await work();
    } catch (error) {
      this.#tell(project, 'log.error', `${failed}: ${messageOf(error)}`);
    }
  }

  #tell(project: Project, action: 'log.error' | 'log.warning' | 'log.info', message: string): void {
    log[action === 'log.info' ? 'info' : 'warn'](message, { project: project.id });
    this.#announcer.project.emit(action, { message }, project.id);
  }
}
