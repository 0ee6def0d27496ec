// The controller: labs as their users see them. Assembles its parts and their routes.

import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { Relayed } from '../api/events.ts';
import type { HeldLease } from '../api/leases.ts';
import type { NodeCreate } from '../api/routes/nodes.ts';
import type { NodeType } from '../api/vocabulary.ts';
import type { Config } from '../config/schema.ts';
import { type OperationAction, Operations } from '../events/operations.ts';
import { messageOf } from '../failures.ts';
import { closeToOthers } from '../host/files/directories.ts';
import { log } from '../host/log.ts';
import type { Metric } from '../host/metrics.ts';
import { LoadMeter } from '../host/processes/host-statistics.ts';
import type { Route } from '../http/app/route.ts';
import type { Store } from '../store/store.ts';
import { Access } from './accounts/access.ts';
import { AccessList } from './accounts/access-list.ts';
import { accessListRoutes } from './accounts/access-list-routes.ts';
import { groupRoutes } from './accounts/group-routes.ts';
import { LastUses } from './accounts/last-uses.ts';
import { loginRoutes } from './accounts/login-routes.ts';
import { type AccountDirectory, accountRoutes } from './accounts/routes.ts';
import { isChangedBy, Sharing, usersOf } from './accounts/sharing.ts';
import { userRoutes } from './accounts/user-routes.ts';
import { Appliances } from './appliances/appliances.ts';
import { type ApplianceVerbs, applianceRoutes, applianceVerbs } from './appliances/routes.ts';
import { Duplicates } from './archives/duplicate.ts';
import { duplicateRoutes } from './archives/duplicate-routes.ts';
import { Exports } from './archives/exporting.ts';
import { Imports } from './archives/importing.ts';
import { archiveRoutes } from './archives/routes.ts';
import type { Compute } from './computes/compute.ts';
import { Computes } from './computes/computes.ts';
import { MissingImages } from './computes/missing-images.ts';
import { computeRoutes } from './computes/routes.ts';
import type { ComputeTransport } from './computes/transport.ts';
import { drawingRoutes } from './drawings/routes.ts';
import { createAnnouncer } from './events.ts';
import { KeptEvents } from './kept-events.ts';
import { Drawings } from './lab/drawings.ts';
import { HostNumbers } from './lab/host-numbers.ts';
import { Journals } from './lab/journals.ts';
import { LabWriter } from './lab/lab-writer.ts';
import { Links } from './lab/links.ts';
import { MacNumbers } from './lab/mac-numbers.ts';
import { Nodes } from './lab/nodes.ts';
import { PendingRemoteChanges } from './lab/pending-remote-changes.ts';
import { PendingUpdates } from './lab/pending-updates.ts';
import type { Project } from './lab/project.ts';
import { Recovery } from './lab/recovery.ts';
import { labRoutes } from './lab/routes.ts';
import { linkRoutes } from './links/routes.ts';
import { controllerMetrics } from './metrics.ts';
import { ConsoleForwards, type ConsolePorts } from './nodes/console-forwards.ts';
import type { Node } from './nodes/node.ts';
import { nodeRoutes } from './nodes/routes.ts';
import { operationRoutes } from './operations/routes.ts';
import { Checkpoints } from './placement/checkpoints.ts';
import { ClusterHosts } from './placement/cluster-hosts.ts';
import { type ControllerRole, Draining } from './placement/draining.ts';
import { DueStarts } from './placement/due-starts.ts';
import { Failover } from './placement/failover.ts';
import { Fencing } from './placement/fencing.ts';
import { ImageCopies } from './placement/image-copies.ts';
import { Placement } from './placement/placement.ts';
import { Relocations } from './placement/relocation.ts';
import { placementRoutes } from './placement/routes.ts';
import { RunningNodes } from './placement/running-nodes.ts';
import { IdlePcSearches } from './projects/idle-pc.ts';
import { ImageUsers } from './projects/image-users.ts';
import { Projects } from './projects/projects.ts';
import { projectRoutes } from './projects/routes.ts';
import { writeDebugFiles } from './server/debug-files.ts';
import { serverRoutes } from './server/routes.ts';
import { ServerSettings } from './server/settings.ts';
import { settingsRoutes } from './server/settings-routes.ts';
import { recoverExchanges } from './snapshots/exchange.ts';
import { Restores } from './snapshots/restoring.ts';
import { snapshotRoutes } from './snapshots/routes.ts';
import { ImagesOfSnapshots } from './snapshots/snapshot-images.ts';
import { Snapshots } from './snapshots/snapshots.ts';
import { symbolRoutes } from './symbols/routes.ts';
import { Symbols } from './symbols/symbols.ts';
import { installBaseConfigurations } from './templates/base-configurations.ts';
import { type Instantiate, templateRoutes } from './templates/routes.ts';
import { Templates } from './templates/templates.ts';
import { v3Routes } from './v3/routes.ts';
import { TemplateNotes } from './v3/templates.ts';

/** The cluster that the controller's host is in. */
export interface ClusterMembership extends ControllerRole {
  readonly name: string;
  /** Takes a host out of it. @throws Failure */
  forget(name: string): Promise<unknown>;
}

export interface ControllerOptions {
  config: Config;
  store: Store;
  /** The compute of this process. */
  local: ComputeTransport;
  /** The properties that computes accept for a type of node. */
  properties: (type: NodeType) => ReadonlySet<string>;
  /** The stores of accounts and the audit trail. */
  accounts: AccountDirectory;
  /** This host's ports for consoles. */
  consolePorts: ConsolePorts;
  /** Ends this process cleanly. */
  shutdown: () => void;
  /** Whether another host may become the controller: what it needs of this host is kept, too. */
  isSuccession?: boolean;
  /** Resolves when that host can have the files of a project. @throws Failure `unavailable` */
  keepFiles: (projectId: string) => Promise<void>;
}

function isOperationAction(action: string): action is OperationAction {
  return action.startsWith('operation.');
}

/** Labs with a running node that writes to an image which all labs share. */
function* writersOf(projects: readonly Project[]): Generator<{ lab: string; node: string }> {
  for (const { id, nodes } of projects) {
    const node = [...nodes.values()].find(({ isWritingImages }) => isWritingImages);
    if (node) yield { lab: id, node: node.name };
  }
}

/** How long (ms) computes may take to stop their nodes at the end. */
const PATIENCE_MS = 2_000;

export class Controller {
  readonly routes: Route[];
  readonly #options: ControllerOptions;
  readonly announcer = createAnnouncer();
  readonly #journals = new Journals(this.announcer);
  readonly metrics: readonly Metric[];
  /** Checks the rights of accounts. */
  readonly access: Access;
  /** When tokens were last used. */
  readonly tokenUses: LastUses;
  /** When accounts last logged in. */
  readonly #logins: LastUses;
  readonly #sharing: Sharing;
  readonly #entries: AccessList;
  readonly computes: Computes;
  readonly fencing: Fencing;
  cluster: ClusterMembership | undefined;
  readonly #clusterHosts: ClusterHosts;
  readonly #projects: Projects;
  readonly #placement: Placement;
  readonly #failover: Failover;
  readonly #checkpoints: Checkpoints;
  readonly #runningNodes: RunningNodes;
  readonly #dueStarts: DueStarts;
  readonly #draining: Draining;
  readonly #nodes: Nodes;
  readonly #appliances: ApplianceVerbs;
  readonly #load = new LoadMeter();
  readonly #notes: TemplateNotes;
  readonly #instantiate: Instantiate;
  readonly #recovery: Recovery;
  readonly #forwards: ConsoleForwards;
  readonly #settings: ServerSettings;
  readonly #symbols: Symbols;
  readonly #templates: Templates;
  readonly #imageUsers: ImageUsers;
  /** Set if another host may become the controller. */
  readonly keptEvents: KeptEvents | undefined;

  constructor(options: ControllerOptions) {
    const { config, store } = options;
    const { announcer } = this;
    this.#options = options;
    const writer = new LabWriter({
      store,
      version: config.Server.version.v2.number,
      warn: (projectId, message) => announcer.project.emit('log.warning', { message }, projectId),
    });
    const entries = new AccessList({
      documents: store.documents,
      writers: () => writersOf(this.#projects.list()),
      changingGroups: (lab) => {
        const shared = Object.entries(this.#sharing.get(lab).groups ?? {});
        return shared.flatMap(([group, access]) => (access === 'change' ? [group] : []));
      },
      changed: () => options.accounts.admissions.check(),
    });
    this.#entries = entries;
    const sharing = new Sharing(store.documents, (id) => this.#projects.find(id) !== undefined, entries);
    announcer.controller.observe(({ action, event }) => {
      if (action !== 'project.deleted') return;
      const id = String((event as { project_id?: unknown }).project_id);
      sharing.ended(id);
      this.#placement.forget(id).catch((error: unknown) => log.warn('placement', { reason: messageOf(error) }));
      void options.accounts.admissions.check();
    });
    this.#sharing = sharing;
    this.tokenUses = new LastUses(store.documents, 'token-uses');
    this.#logins = new LastUses(store.documents, 'logins');
    const forwards = new ConsoleForwards(options.consolePorts, config.Server.host);
    this.#forwards = forwards;
    const remoteChanges = new PendingRemoteChanges(store.remoteObjects);
    const links = new Links({ announcer, writer });
    const drawings = new Drawings({ announcer, writer });
    this.computes = new Computes({
      config,
      documents: store.documents,
      announcer,
      listener: {
        announced: (compute, message) => this.#announced(compute, message),
        joined: async (compute) => {
          await this.#recovery.run(compute, this.#projects.list());
          await this.#followConsoles(compute);
        },
        lost: (compute) => this.#recovery.lost(compute, this.#projects.list()),
      },
      closeProjects: (compute) => this.#projects.closeUsing(compute),
    });
    this.#settings = new ServerSettings(store.documents);
    this.#symbols = new Symbols({ directory: config.Server.symbols_path });
    this.#templates = new Templates({
      documents: store.documents,
      emit: (action, template) => announcer.controller.emit(action, template),
      builtins: config.Server.enable_builtin_templates,
    });
    this.#appliances = applianceVerbs({
      appliances: new Appliances({
        directory: config.Server.appliances_path,
        builtins: config.Server.install_builtin_appliances,
      }),
      symbols: this.#symbols,
      templates: this.#templates,
      computes: this.computes,
    });
    this.#notes = new TemplateNotes(store.documents, this.#templates);
    const images = new MissingImages({ computes: this.computes, announcer });
    this.#nodes = new Nodes({
      announcer,
      writer,
      links,
      symbols: this.#symbols,
      configs: { directory: config.Server.configs_path, local: config.Server.local },
      images,
      numbers: new HostNumbers(() => this.#projects.list()),
      forwards,
      macNumbers: new MacNumbers(() => this.#projects.list()),
      pendingUpdates: new PendingUpdates(store.documents),
      mayWriteImages: async (projectId) => {
        const { accounts } = await options.accounts.file.read();
        return !isChangedBy(usersOf(accounts), sharing.get(projectId), entries) && !entries.mayChange(projectId);
      },
      settings: (name) => this.#settings.get(name),
      properties: options.properties,
      restore: (project, node, target) => this.#checkpoints.restore(project, node, target),
    });
    this.#recovery = new Recovery({
      nodes: this.#nodes,
      links,
      announcer,
      remoteChanges,
      open: (project) => this.#projects.open(project),
      recovered: () => void this.#dueStarts.startLeft(),
    });
    this.#projects = new Projects({
      config,
      store,
      writer,
      announcer,
      links,
      drawings,
      nodes: this.#nodes,
      computes: this.computes,
      remoteChanges,
      isShared: () => options.accounts.file.isShared(),
      found: async (id) => {
        if (await options.accounts.file.isShared()) await sharing.found(id);
      },
      lost: (id) => sharing.lost(id),
      documents: {
        forgetting: (id, remove) =>
          sharing.leaving(id, () =>
            entries.forgetLab(id, (changes) => remove([...changes, { kind: 'sharing', id, body: undefined }])),
          ),
        gone: (id) => sharing.gone(id),
      },
    });
    if (options.isSuccession)
      this.keptEvents = new KeptEvents({
        announcer,
        stored: store.events,
        leftOpen: () => this.#projects.list().flatMap(({ id, leftOpen }) => (leftOpen ? [id] : [])),
        isReopening: (id) => this.#projects.find(id)?.leftOpen === true,
      });
    const { version: releases, local, projects_path: projectsPath, images_path: imagesPath } = config.Server;
    const version = releases.v2.number;
    const projects = this.#projects;
    const computes = this.computes;
    const placement = new Placement({ computes, projects, documents: store.documents });
    this.#placement = placement;
    this.#runningNodes = new RunningNodes(store.documents);
    const due = new DueStarts({ documents: store.documents, projects, announcer });
    this.#dueStarts = due;
    const relocations = new Relocations({ computes, nodes: this.#nodes, placement, due });
    const draining = new Draining({ computes, projects, relocations, role: () => this.cluster });
    this.#draining = draining;
    this.fencing = new Fencing({
      computes,
      failoverMs: config.Cluster.failover_seconds * 1_000,
      isSuccession: options.isSuccession === true,
      hasStray: (compute) => remoteChanges.hasStray(compute, projects.list()),
    });
    const { fencing } = this;
    const ran = this.#runningNodes;
    this.#failover = new Failover({ computes, projects, relocations, announcer, fencing, ran, due });
    this.#checkpoints = new Checkpoints({
      directory: join(config.state, 'checkpoints'),
      milliseconds: config.Cluster.checkpoint_seconds * 1_000,
      copiesAll: options.isSuccession === true,
      images: new ImageCopies({ computes, projects, images, copies: config.Cluster.image_copies }),
      computes,
      projects,
    });
    this.#clusterHosts = new ClusterHosts({ computes, projects, checkpoints: this.#checkpoints });
    const create = (project: Project, given: NodeCreate): Promise<Node> =>
      placement.create(project, given, (compute, one: NodeCreate) => this.#nodes.create(project, compute, one));
    this.#instantiate = async (projectId, request) => {
      const project = this.#projects.get(projectId);
      project.requireOpen();
      const wanted = request();
      return (await create(project, wanted as NodeCreate)).json();
    };
    this.access = new Access({
      sharing,
      entries,
      audit: options.accounts.audit,
      nameOf: (projectId) => projects.find(projectId)?.record.name,
    });
    this.metrics = controllerMetrics({ projects, computes });
    const exports = new Exports({ computes, writer, announcer, version });
    const imports = new Imports({
      ...{ projects, computes, placement, announcer, remoteChanges, projectsPath, imagesPath, version },
      keepFiles: options.keepFiles,
    });
    const duplicates = new Duplicates({ projects, writer, exports, imports, projectsPath, version });
    const restores = new Restores({ projects, computes, projectsPath, announcer, version });
    const snapshots = new Snapshots({ exports, restores, announcer });
    const ofSnapshots = new ImagesOfSnapshots(snapshots);
    this.#imageUsers = new ImageUsers({
      projects,
      templates: this.#templates,
      snapshots: (project) => ofSnapshots.of(project),
    });
    const countSnapshots = async (project: Project): Promise<number> => (await snapshots.list(project)).length;
    const operations = new Operations({
      tell: (action, operation) => announcer.controller.tell(action, { ...operation, compute_id: null }),
    });
    const usage = (): object => this.#load.usage();
    this.routes = [
      ...serverRoutes({
        releases,
        local,
        announcer,
        sharing,
        computes: this.computes,
        usage,
        shutdown: options.shutdown,
        reload: () => this.#projects.reload(),
        debug: () =>
          writeDebugFiles(join(config.state, 'debug'), {
            version,
            computes: this.computes.list(),
            projects: this.#projects.list(),
          }),
      }),
      ...accountRoutes({
        ...options.accounts,
        sharing,
        entries,
        projects,
        documents: store.documents,
        uses: this.tokenUses,
        becomesShared: () => this.#closeToOthers(),
      }),
      ...groupRoutes({ ...options.accounts, entries }),
      ...settingsRoutes(this.#settings),
      ...operationRoutes(operations, this.computes, sharing),
      ...applianceRoutes(this.#appliances),
      ...computeRoutes({
        computes,
        forget: async (name) => void (await this.cluster?.forget(name)),
        idlePc: new IdlePcSearches({ projects, nodes: this.#nodes }),
        operations,
        sharing,
        imageUsers: this.#imageUsers,
      }),
      ...projectRoutes({
        projects: this.#projects,
        writer,
        announcer,
        sharing,
        operations,
        usage,
        local,
        journals: this.#journals,
        symbols: this.#symbols,
        mayRegister: (identity) =>
          identity === undefined ||
          identity.role === 'admin' ||
          entries.grants(identity, 'Compute.Allocate', '/computes'),
        snapshots: countSnapshots,
      }),
      ...archiveRoutes({ projects, exports, imports, sharing, operations }),
      ...duplicateRoutes({ projects, duplicates, sharing, entries, operations, local }),
      ...snapshotRoutes({ projects, snapshots, operations }),
      ...nodeRoutes({ projects: this.#projects, nodes: this.#nodes, computes: this.computes, create }),
      ...placementRoutes({
        ...{ computes, projects, placement, draining, operations },
        cluster: (identity) =>
          this.#clusterHosts.json(this.cluster?.name ?? null, (projectId) => sharing.sees(identity, projectId)),
      }),
      ...linkRoutes({ projects: this.#projects, links }),
      ...drawingRoutes({ projects: this.#projects, drawings }),
      ...labRoutes({ projects: this.#projects, nodes: this.#nodes, links, drawings }),
      ...symbolRoutes(this.#symbols),
      ...templateRoutes(this.#templates, this.#instantiate),
    ];
  }

  /** Makes the routes of the API of release 3.0.6; called at most once. */
  v3Routes(): Route[] {
    const { accounts } = this.#options;
    const parts = {
      ...accounts,
      entries: this.#entries,
      sharing: this.#sharing,
      projects: this.#projects,
      logins: this.#logins,
      templates: this.#templates,
      becomesShared: () => this.#closeToOthers(),
    };
    return [
      ...loginRoutes(parts),
      ...v3Routes({
        routes: this.routes,
        projects: this.#projects,
        computes: this.computes,
        templates: this.#templates,
        notes: this.#notes,
        instantiate: this.#instantiate,
        announcer: this.announcer,
        sharing: this.#sharing,
        entries: this.#entries,
        usage: () => this.#load.usage(),
        settings: this.#settings,
        local: () => this.computes.get('local'),
        isLocal: this.#options.config.Server.local,
        projectsPath: this.#options.config.Server.projects_path,
        releases: this.#options.config.Server.version,
        imageUsers: this.#imageUsers,
        imagesPath: this.#options.config.Server.images_path,
        appliances: this.#appliances,
      }),
      ...userRoutes(parts),
      ...accessListRoutes(parts),
    ];
  }

  /** Loads the stored state; `port` is the one that this server listens on. */
  async start(port: number): Promise<void> {
    const { config, store } = this.#options;
    if (await this.#options.accounts.file.isShared()) await this.#closeToOthers();
    // Before anything reads the files of a project.
    const paths = (await store.projects.list()).map(({ path }) => path);
    await recoverExchanges(config.Server.projects_path, paths);
    for (const path of paths) await recoverExchanges(path, [path]);
    // Before the first lab is announced.
    await this.#sharing.start();
    await this.#entries.start();
    await Promise.all([
      this.tokenUses.start(),
      this.#logins.start(),
      this.computes.start(this.#options.local, port),
      this.#settings.start(),
      installBaseConfigurations(this.#options.config.Server.configs_path),
      this.#symbols.start(),
      this.#templates.start(),
      this.#notes.start(),
      this.#projects.start(),
    ]);
    await Promise.all([this.#placement.start(), this.#dueStarts.start()]);
    if (this.keptEvents) {
      await this.#runningNodes.start(this.announcer);
      await this.keptEvents.start();
      // Clients know them from the previous controller, for which another one was the local one.
      for (const compute of this.computes.list()) this.announcer.controller.emit('compute.updated', compute.json());
    }
    this.#checkpoints.start();
    this.computes.connect();
  }

  /**
   * Reopens the labs that were open when the previous run of the server ended, and reattaches their programs. They are
   * `opening` when the call returns. Never rejects.
   */
  async reopenAll(): Promise<void> {
    await this.#projects.reopenAll();
    void this.#dueStarts.startLeft();
  }

  /** With several accounts, other users of the host must not read the labs. */
  #closeToOthers(): Promise<void> {
    const { config } = this.#options;
    return closeToOthers(config.state, config.Server.projects_path);
  }

  /** A host of the cluster holds its lease; called with each renewal. */
  held(lease: HeldLease, dial: () => Duplex): void {
    const { isThisHost, id: hostId, outsideLimitMs, isOutsideClosed, port, ...more } = lease;
    const { name, address, outsideAddress } = more;
    const place = { name, address, outsideAddress };
    const id = isThisHost ? 'local' : hostId;
    if (isThisHost) this.computes.placeLocal(place);
    else void this.computes.admitMember({ ...place, id, port }, dial);
    this.#clusterHosts.held(id, lease);
    this.fencing.held(id, outsideLimitMs, isOutsideClosed);
  }

  /** Lets other hosts run the nodes of a lost one. Never rejects. */
  replaceHost(id: string): Promise<void> {
    return this.#failover.replace(id);
  }

  hasProject(id: string): boolean {
    return this.#projects.isOurs(id);
  }

  /** Opens the projects with `auto_open`, which may take longer than a client waits for its first answer. */
  openAutomatic(): Promise<void> {
    return this.#projects.openAutomatic();
  }

  /**
   * Ends the notification streams, then stops and writes every lab. With `keepNodes` all labs stay open and their nodes
   * run on.
   */
  async stop({ keepNodes = false } = {}): Promise<void> {
    this.#projects.endAutoClose();
    this.announcer.controller.close('The server is stopping.');
    this.announcer.project.close('The server is stopping.');
    this.#checkpoints.stop();
    const ended = Promise.withResolvers<void>();
    // A compute that hangs must not keep other labs from being written.
    const impatient = setTimeout(() => {
      this.#dueStarts.stop();
      this.computes.stop();
      ended.resolve();
    }, PATIENCE_MS);
    // A node that is being moved arrives, and is started again, before its lab is written.
    await Promise.race([this.#draining.stop(), ended.promise]);
    this.#dueStarts.stop();
    await this.#projects.stop({ keepNodes });
    await this.keptEvents?.settled();
    clearTimeout(impatient);
    this.#forwards.stop();
    this.#runningNodes.stop();
    this.computes.stop();
  }

  /** Its consoles may have become reachable or unreachable. */
  async #followConsoles(compute: Compute): Promise<void> {
    const nodes = this.#projects.list().flatMap((project) => [...project.nodes.values()]);
    for (const node of nodes.filter((node) => node.compute === compute)) {
      const { forward } = node;
      await this.#forwards.follow(node);
      if (node.forward !== forward) this.announcer.project.emit('node.updated', node.json(), node.projectId);
    }
  }

  /**
   * Handles a compute's notification other than a ping: changes of nodes are applied, all others are passed to the
   * project's listeners.
   */
  #announced(compute: Compute, message: Relayed): void {
    if (isOperationAction(message.action)) {
      this.announcer.controller.relayPassing({ ...message, event: { ...message.event, compute_id: compute.id } });
      return;
    }
    if (message.action !== 'node.updated') {
      const { action, project_id: id } = message;
      const project = id === undefined ? undefined : this.#projects.find(id);
      // A moved node is deleted on its old host and lives on elsewhere.
      const moved = action === 'node.deleted' ? project?.nodes.get(String(message.event['node_id'])) : undefined;
      if (moved !== undefined && moved.compute !== compute) return;
      const isMeant = id === undefined || project?.hosts.has(compute) || (project && compute.id === 'local');
      if (isMeant) this.announcer.project.relay(message);
      return;
    }
    const project = this.#projects.find(String(message.event['project_id']));
    if (!project) return;
    this.#nodes.records.computeUpdated(project, compute, message).catch((error: unknown) => {
      log.error('a change of a node cannot be kept', { project: project.id, error: messageOf(error) });
    });
  }
}
