// The compute half: this host's emulators, ports and files, as the API's /v2/compute routes.

import type { ComputeEvents } from '../api/events.ts';
import type { NodeType } from '../api/vocabulary.ts';
import type { Config } from '../config/schema.ts';
import { EventBus } from '../events/bus.ts';
import { type ComputeFeed, objectFeed } from '../events/feed.ts';
import { Operations } from '../events/operations.ts';
import type { Fabric } from '../fabric/fabric.ts';
import { makeDirectory } from '../host/files/directories.ts';
import { removeLeftoversBelow } from '../host/files/leftovers.ts';
import { log } from '../host/log.ts';
import type { Metric } from '../host/metrics.ts';
import { NodeNetwork } from '../host/network/node-network.ts';
import { VxlanLinks } from '../host/network/vxlan-links.ts';
import { reapOurs } from '../host/processes/child-processes.ts';
import { LoadMeter } from '../host/processes/host-statistics.ts';
import type { Route } from '../http/app/route.ts';
import type { Documents } from '../store/documents.ts';
import { SupervisorClient } from '../supervisor/client.ts';
import { KINDS } from './emulators/registry.ts';
import { tellOfCrashes } from './fabric-crashes.ts';
import { Images } from './images/images.ts';
import { imageRoutes } from './images/routes.ts';
import { userOf } from './images/users.ts';
import { computeMetrics } from './metrics.ts';
import { NatNetwork } from './nat-network/network.ts';
import { networkRoutes } from './network/routes.ts';
import { type IsOver, SurvivingPrograms } from './nodes/lifecycle/surviving-programs.ts';
import { SwitchedOn } from './nodes/lifecycle/switched-on.ts';
import { diskMetric } from './nodes/load/disk-metric.ts';
import { loadMetrics, loadOfNodes } from './nodes/load/node-load.ts';
import type { Node } from './nodes/node.ts';
import { Captures } from './nodes/ports/captures.ts';
import { nodeRoutes } from './nodes/routes.ts';
import { consoleHost, Ports } from './ports/ports.ts';
import { Projects } from './projects/projects.ts';
import { projectRoutes } from './projects/routes.ts';
import { debugReport } from './server/debug-report.ts';
import { SILENCE_MS, serverRoutes } from './server/routes.ts';
import type { FrameRelay, Services } from './services.ts';
import { endUnclaimed } from './unclaimed-programs.ts';
import { OutsideAccess } from './uplinks/outside-access.ts';

export interface ComputeOptions {
  config: Config;
  /** Started before the compute and stopped after it. */
  fabric: Fabric;
  /** The state directory's identifier. Processes that carry it are ours. */
  instance: string;
  documents: Documents;
  /** Whether several people with their own accounts share this host. Default: no. */
  isShared?: Services['isShared'];
  /** Projects known to this process's controller, and their directories. Default: none. */
  otherProjects?: Services['otherProjects'];
}

export class Compute {
  readonly routes: Route[];
  readonly events = new EventBus<ComputeEvents>({ copies: true });
  readonly metrics: readonly Metric[];
  /** Of the clouds and NATs here, to networks outside of the labs. */
  readonly outsideAccess = new OutsideAccess((isOpen, projects) => this.#tellOfAccess(isOpen, projects));
  readonly #services: Services;
  readonly #projects: Projects;
  readonly #load = new LoadMeter();

  constructor(options: ComputeOptions) {
    const { config, fabric, instance, documents } = options;
    const { otherProjects = async () => [], isShared = async () => false } = options;
    const ports = new Ports(config);
    const images = new Images(config);
    const captures = new Captures(fabric);
    const natNetwork = new NatNetwork(config, fabric);
    const nodeNetwork = new NodeNetwork(config.state, instance, config.Server.kernel_links === 'automatic');
    const vxlanLinks = new VxlanLinks(nodeNetwork, config.Server.vxlan_port);
    const { events, outsideAccess } = this;
    const operations = new Operations({ tell: (action, operation) => events.tell(action, operation) });
    const lost = async (): Promise<void> => void (await reapOurs(instance));
    const supervisor = new SupervisorClient({ state: config.state, instance, lost });
    const switchedOn = new SwitchedOn(documents, ports.udp);
    const kinds = new Map(KINDS.flatMap(({ type, kept }) => (kept ? [[type, kept] as const] : [])));
    const survivingPrograms = new SurvivingPrograms({ supervisor, udp: ports.udp, events, instance, kinds });
    const kindHosts = new Map<NodeType, unknown>();
    this.#services = {
      config,
      fabric,
      ports,
      images,
      captures,
      supervisor,
      survivingPrograms,
      switchedOn,
      nodeNetwork,
      vxlanLinks,
      natNetwork,
      outsideAccess,
      events,
      operations,
      instance,
      isShared,
      otherProjects,
      kindHosts,
    };
    for (const { type, host } of KINDS) kindHosts.set(type, host?.(this.#services));
    const projects = new Projects(this.#services);
    this.#projects = projects;
    const modules = new Map<string, string | undefined>(KINDS.map(({ type, module }) => [type, module]));
    const allNodes = (): Node[] => projects.list().flatMap((project) => [...project.nodes()]);
    this.metrics = [
      ...computeMetrics({ fabric, supervisor, relay: () => this.#services.frameRelay }),
      ...loadMetrics(allNodes),
      diskMetric(allNodes, ({ type }) => modules.get(type)),
    ];
    const load = this.#load;
    this.routes = [
      ...serverRoutes({
        nodeTypes: KINDS.map(({ type }) => type),
        vxlanPort: () => vxlanLinks.port,
        unavailableKinds: () =>
          Promise.all(
            KINDS.map(async ({ type, unavailableReason }) => ({
              node_type: type,
              hindrance: (await unavailableReason?.(config)) ?? null,
            })),
          ),
        config,
        events: this.events,
        load,
        loadOfProject: (id) =>
          loadOfNodes(
            projects
              .list()
              .find((project) => project.id === id)
              ?.nodes() ?? [],
          ),
        operations,
        debugReport: () => debugReport(config, projects, ports, load),
      }),
      ...networkRoutes(config, ports, projects, outsideAccess),
      ...projectRoutes(projects, this.events, load),
      ...imageRoutes({ images, operations, user: (kind, filename) => userOf(projects, kind, filename) }),
      ...KINDS.flatMap((kind) => [
        ...(kind.hostRoutes?.(this.#services, kindHosts.get(kind.type)) ?? []),
        ...nodeRoutes(kind, projects),
      ]),
    ];
  }

  /** How many nodes run here. */
  get runningNodes(): number {
    return this.#projects
      .list()
      .flatMap((project) => [...project.nodes()])
      .filter(({ status }) => status === 'started').length;
  }

  /** From now on links may lead to hosts of the cluster that are reached by its relay only. */
  relayFrames(relay: FrameRelay): void {
    this.#services.frameRelay = relay;
  }

  #tellOfAccess(isOpen: boolean, projects: ReadonlySet<string>): void {
    if (isOpen) log.info('clouds and NATs reach the outside of labs again', { labs: projects.size });
    else log.warn('clouds and NATs are cut off: other hosts may run them', { labs: projects.size });
    const message = isOpen
      ? 'Clouds and NATs reach networks outside of the lab again.'
      : 'Clouds and NATs reach no network outside of the lab: their host has lost its lease in the cluster, and others may run them.';
    for (const id of projects) this.events.emit(isOpen ? 'log.info' : 'log.warning', { message }, id);
  }

  /** Finds programs left running by the previous run of the daemon. Nodes that are created again reattach them. */
  async start(): Promise<void> {
    const { config, captures, fabric, images, survivingPrograms, switchedOn } = this.#services;
    const directory = config.Server.projects_path;
    await makeDirectory(directory, `projects_path ${directory}`);
    await survivingPrograms.start();
    await switchedOn.start();
    captures.start();
    void images.start();
    void removeLeftoversBelow(directory, Date.now() - performance.now()).then((removed) => {
      if (removed > 0) log.info('files that a former life has left half written were removed', { removed });
    });
    void this.#services.natNetwork.removeLeftovers();
    tellOfCrashes(fabric, this.events);
  }

  /** What happens here, for the controller of this process. */
  follow(): ComputeFeed {
    const ping = (): object => this.#load.usage();
    return objectFeed(this.events.subscribe(undefined, undefined, true), { silence: SILENCE_MS, ping });
  }

  /** For consoles of other hosts that are offered here. */
  get consolePorts() {
    const { console: pool, vncRange } = this.#services.ports;
    return {
      host: consoleHost(this.#services.config),
      reserve: (owner: string, type: string, wanted: number): Promise<number> =>
        pool.reserve(owner, wanted, type === 'vnc' ? vncRange : pool.range),
      release: (owner: string, port: number): void => pool.release(owner, port),
    };
  }

  /** Reserves the console ports, with their projects, of nodes from the previous run; an empty map once those exist. */
  expectConsoles(ports: ReadonlyMap<number, string>): void {
    this.#services.ports.console.expect(ports);
  }

  /** Ends programs of the previous run that no node has reattached. */
  async endUnclaimed(isOver: IsOver): Promise<void> {
    await endUnclaimed(this.#services, isOver);
  }

  /**
   * Closes all projects: stops every node and releases every port. Files stay. With `keepNodes` nothing is stopped: the
   * supervisor keeps the nodes' programs for the next run of this process.
   */
  async stop({ keepNodes = false } = {}): Promise<void> {
    this.outsideAccess.stop();
    if (!keepNodes) {
      await this.#projects.closeAll();
      await this.endUnclaimed(() => true);
      this.#services.nodeNetwork.close();
    }
    // Its nodes keep their addresses: the next run gives them the same network.
    await this.#services.natNetwork.stop();
    this.#services.vxlanLinks.stop();
    this.events.close('This server is shutting down.');
    await this.#services.supervisor.leave();
  }
}
