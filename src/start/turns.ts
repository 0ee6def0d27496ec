// Hosts of a cluster that take turns at being the controller: this one serves the network without a controller until it is chosen, and again
// when another one is.
import type { AddressInfo } from 'node:net';
import { join as joinPath } from 'node:path';
import type { KeptFiles } from '../api/routes/definition.ts';
import type { Shared } from '../cluster/shared-files.ts';
import { ignore, messageOf, temporary } from '../failures.ts';
import { isBelow, relativeBelow } from '../host/files/relative-path.ts';
import { log } from '../host/log.ts';
import { version } from '../host/version.ts';
import type { App } from '../http/app/app.ts';
import type { Passing } from '../http/app/passing.ts';
import type { HttpServer } from '../http/app/server.ts';
import { AuditFile } from '../store/audit.ts';
import { Database } from '../store/database.ts';
import { becomeLocal, localHost } from '../store/host-change.ts';
import { MIGRATIONS } from '../store/migrations.ts';
import type { ProjectRecord } from '../store/projects.ts';
import type { Store } from '../store/store.ts';
import { readTopologyFile, type TopologyFile } from '../store/topology/file.ts';
import { assembleStandby, type Turns } from './assembly.ts';
import { admit, type Cluster, join, type NamedHost } from './cluster.ts';
import {
  type Control,
  type ControlParts,
  endUnclaimedLater,
  newServer,
  startControl,
  startLocally,
} from './control.ts';
import { NODES_FILES, noteLeftFiles, requireLeftFiles } from './left-files.ts';

const NO_CONTROLLER =
  'The cluster cannot keep changes now. Labs run on, and can be read; try again when most servers of NATS are reached.';
/** From the beginning of the role to the first sweep of the object store, and between two of them. */
const FIRST_SWEEP_MS = 60_000;
const SWEPT_MS = 3_600_000;
/** Copies of nodes leave the rest of what is kept to labs, accounts and symbols. */
const MOST_COPIES_BYTES = 384 * 2 ** 20;

type Parts = ControlParts & { passing: Passing };

const openIn = async ({ labs }: Store): Promise<ReadonlySet<string>> =>
  new Set((await labs.list()).map(({ project_id: id }) => id));

/** The file of the lab is the last: without it there is no lab, and not half of one. */
const filesOfProject = (
  { project_id: id, path, filename }: Pick<ProjectRecord, 'project_id' | 'path' | 'filename'>,
  open: ReadonlySet<string>,
): Shared => ({ path, last: filename, ...(open.has(id) ? { without: [NODES_FILES] } : { closedLab: id }) });

/** Whether a path is among the files of the nodes of labs: of all, or of those that are on one host. */
async function nodesFiles(labs: Store, host?: NamedHost): Promise<(path: string) => Promise<boolean>> {
  const projects = await labs.projects.list();
  const found = new Map<string, Promise<ReadonlySet<string> | undefined>>();
  return async (path) => {
    const project = projects.find((each) => isBelow(joinPath(each.path, NODES_FILES), path));
    if (!project || !host) return project !== undefined;
    const { project_id: id } = project;
    const nodes = found.get(id) ?? nodesOn(host, labs, project);
    found.set(id, nodes);
    const [, , nodeId = ''] = relativeBelow(project.path, path)?.split('/') ?? [];
    return (await nodes)?.has(nodeId) ?? true;
  };
}

/** Undefined without a file of the lab that can be read. */
async function nodesOn(host: NamedHost, labs: Store, project: ProjectRecord): Promise<Set<string> | undefined> {
  const file = (): Promise<TopologyFile> =>
    readTopologyFile(joinPath(project.path, project.filename), { version: version(), readOnly: true });
  const nodes =
    (await labs.labs.load(project.project_id))?.nodes ?? (await file().catch(ignore))?.topology.topology.nodes;
  return nodes && new Set(nodes.filter((node) => node['compute_id'] === host.id).map((node) => String(node.node_id)));
}

/** Begins without the controller. */
export async function startTurns(parts: Parts): Promise<Pick<Control, 'address' | 'app' | 'stop'>> {
  const turn = new Turn(parts);
  await parts.beforeListening();
  await turn.start();
  return turn;
}

class Turn implements Turns {
  readonly #parts: Parts;
  readonly #standby: App;
  readonly audit: AuditFile;
  #server: HttpServer | undefined;
  #address: AddressInfo | undefined;
  #cluster: Cluster | undefined;
  #control: Control | undefined;
  /** Of the cluster, while this host is the controller. */
  #labs: Store | undefined;
  #own: NamedHost | undefined;
  #keeping: NodeJS.Timeout | undefined;
  #problem = '';
  #sweepAt = 0;
  #isStopped = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#standby = assembleStandby(parts.host, parts.store);
    this.audit = new AuditFile(parts.host.config.state, undefined, (line) => this.#cluster?.sendAudit(line));
  }

  get address(): AddressInfo {
    return this.#address as AddressInfo;
  }

  get app(): App {
    return this.#control?.app ?? this.#standby;
  }

  async start(): Promise<void> {
    const { host, store, port, passing } = this.#parts;
    this.#server = await newServer(this.#standby, { ...this.#parts, port });
    this.#address = await this.#server.start();
    await startLocally(this.#server, host.config);
    endUnclaimedLater(host.compute);
    this.#cluster = await join(host, {
      ...{ port: this.address.port, passing, app: () => this.app },
      controller: () => this.#control?.controller,
      successor: {
        open: (path) => Database.open(path, MIGRATIONS),
        schema: MIGRATIONS.length,
        begin: (path) => store.copyTo(path),
        lead: (database, own) => this.#lead(database, own),
        followed: (database, own, signal) => this.#follow(database, own, signal),
        step: (isOrderly) => this.#step(isOrderly),
        audit: this.audit,
      },
      noted: async ({ id, name, outsideLimitMs = null }) => {
        const documents = this.#labs?.documents;
        const noted = (await documents?.list('cluster-hosts'))?.find((known) => known.id === id)?.body;
        if (noted?.['name'] !== name || noted['outsideLimitMs'] !== outsideLimitMs)
          await documents?.put('cluster-hosts', id, { name, outsideLimitMs });
      },
      forgotten: async ({ id }) => this.#labs?.documents.delete('cluster-hosts', id),
    });
  }

  obstacle(): string | undefined {
    return this.#cluster?.isCertain ? undefined : NO_CONTROLLER;
  }

  async #lead(database: Database, own: NamedHost): Promise<void> {
    const { keepsNodes, store } = this.#parts;
    const cluster = this.#cluster as Cluster;
    const labs = store.withDatabase(database);
    if ((await localHost(database)) !== own.id) {
      const [places, leaves] = [await this.#sharedOf(labs), await nodesFiles(labs)];
      await cluster.restoreFiles(labs.documents, { places, leaves });
      // The files of labs are here now, and say which nodes are on this host: it has the newest files of these.
      await cluster.restoreFiles(labs.documents, { places, leaves: await nodesFiles(labs, own) });
    }
    await becomeLocal(database, own.id);
    const known = await labs.documents.list('cluster-hosts');
    if (!known.some(({ id }) => id === own.id)) await labs.documents.put('cluster-hosts', own.id, { name: own.name });
    labs.labs.beforeEnd = async (id) => {
      const record = await labs.projects.get(id);
      if (record) await cluster.keepFiles(labs.documents, [{ path: joinPath(record.path, record.filename) }]);
    };
    labs.labs.beforeOpen = (id) => requireLeftFiles(labs.documents, own, id);
    this.#own = own;
    this.#control = await startControl({
      ...this.#parts,
      ...{ port: this.address.port, turns: this, store: labs },
      keepsNodes: () => !this.#isStopped || keepsNodes(),
      standby: { server: this.#server as HttpServer, app: this.#standby, address: this.address },
      beforeListening: async () => {},
      joined: async ({ controller }) => {
        controller.computes.takeOver(own.id);
        controller.cluster = cluster;
        const listed = await labs.documents.list('cluster-hosts');
        const hosts = listed.map(({ id, body }) => ({ id, name: String(body['name']) }));
        const others = hosts.filter(({ id }) => id !== own.id);
        await admit(others, cluster, controller);
        for (const { id, body } of listed)
          if (typeof body['outsideLimitMs'] === 'number') controller.fencing.expect(id, body['outsideLimitMs']);
        cluster.expect(others);
        return { stop: async () => {} };
      },
    });
    this.#labs = labs;
    this.#sweepAt = performance.now() + FIRST_SWEEP_MS;
    void this.#keepFiles();
  }

  /** Keeps the files of labs for the next controller, now and every so often. */
  async #keepFiles(): Promise<void> {
    const labs = this.#labs;
    await this.#keepFilesNow();
    await this.#sweepFiles();
    // The role may have ended meanwhile, and begun again with other labs.
    if (!this.#control || this.#labs !== labs) return;
    const { Cluster: settings } = this.#parts.host.config;
    this.#keeping = setTimeout(() => void this.#keepFiles(), settings.checkpoint_seconds * 1_000).unref();
  }

  async #keepFilesNow(): Promise<void> {
    const labs = this.#labs;
    if (!labs || !this.#cluster?.isCertain) return;
    try {
      const left = await this.#keepIn(labs, await this.#sharedOf(labs), true);
      await this.#cluster.forgetFiles(labs.documents, () => this.#sharedOf(labs));
      this.#report(left === 0 ? '' : `${left} files are too large`);
    } catch (error) {
      this.#report(messageOf(error));
    }
  }

  /** Never rejects: it is tried again. */
  async #sweepFiles(): Promise<void> {
    if (!this.#labs || performance.now() < this.#sweepAt) return;
    try {
      if (await this.#cluster?.sweepFiles(this.#labs.documents)) this.#sweepAt = performance.now() + SWEPT_MS;
    } catch (error) {
      log.debug('unused files stay in NATS', { reason: messageOf(error) });
    }
  }

  /** All files that the next controller is to have. */
  async #sharedOf(labs: Store): Promise<Shared[]> {
    const { config } = this.#parts.host;
    const open = await openIn(labs);
    const projects = (await labs.projects.list()).map((project) => filesOfProject(project, open));
    const others = [...this.#placesOf('accounts'), ...this.#placesOf('symbols'), { path: config.Server.configs_path }];
    const path = joinPath(config.state, 'checkpoints');
    return [...projects, ...others, { path, last: 'manifest.json', most: MOST_COPIES_BYTES }];
  }

  #placesOf(files: 'accounts' | 'symbols'): Shared[] {
    const { state, Server: settings } = this.#parts.host.config;
    if (files === 'symbols') return [{ path: settings.symbols_path }];
    return ['accounts.json', 'account.json'].map((name) => ({ path: joinPath(state, name) }));
  }

  async filesOf(files: KeptFiles, projectId: string | undefined): Promise<Shared[]> {
    if (files !== 'project') return this.#placesOf(files);
    const labs = this.#labs;
    const project = projectId === undefined ? undefined : await labs?.projects.get(projectId);
    return labs && project ? [filesOfProject(project, await openIn(labs))] : [];
  }

  async keep(shared: readonly Shared[]): Promise<void> {
    const labs = this.#labs;
    if (!labs || shared.length === 0) return;
    await this.#keepIn(labs, shared).catch((error: unknown) => {
      throw temporary(
        `The change is made on this host, but the cluster has not kept its files for another one (${messageOf(error)}): try again when most servers of NATS are reached.`,
      );
    });
  }

  /** Returns the number of files that are too large. */
  async #keepIn({ documents }: Store, shared: readonly Shared[], isAll = false): Promise<number> {
    const left = (await this.#cluster?.keepFiles(documents, shared)) ?? [];
    if (this.#own) await noteLeftFiles(documents, this.#own, { shared, left, isAll });
    return left.length;
  }

  #report(problem: string): void {
    if (problem !== '' && problem !== this.#problem)
      log.warn('not all files of labs are kept for other hosts', { reason: problem });
    this.#problem = problem;
  }

  /** Another host is the controller: its files of labs are made here, too, unless this one was it last. */
  async #follow(database: Database, own: NamedHost, signal: AbortSignal): Promise<void> {
    const local = await localHost(database);
    if (local === undefined || local === own.id) return;
    const labs = this.#parts.store.withDatabase(database);
    // Nodes that run here use their files, and may have come since the lab was closed.
    await this.#cluster?.restoreFiles(labs.documents, { leaves: await nodesFiles(labs), signal });
  }

  async #step(isOrderly: boolean): Promise<void> {
    clearTimeout(this.#keeping);
    // Twice: little is left for the time in which no host answers.
    if (isOrderly) await this.#keepFilesNow();
    try {
      await this.#control?.stop();
      if (isOrderly) await this.#keepFilesNow();
    } finally {
      this.#labs = undefined;
      this.#control = undefined;
    }
  }

  async stop(): Promise<void> {
    // Labs stay open on another host, if one can be the controller.
    if (this.#control)
      await this.#cluster
        ?.handOver()
        .catch((error: unknown) => log.info('no other host is the controller', { reason: messageOf(error) }));
    this.#isStopped = true;
    await this.#cluster?.settled();
    // Changes of the last moments still need the cluster.
    await this.#keepFilesNow();
    clearTimeout(this.#keeping);
    await this.#server?.stop();
    await this.#control?.stop();
    // It has closed the labs: another host that comes first has the newest files of their nodes, too.
    await this.#keepFilesNow();
    this.#labs = undefined;
    await this.#cluster?.stop();
  }
}
