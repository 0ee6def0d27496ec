// Opens a project: builds the lab from its topology file, node by node and link by link (as in release 2.2.57).
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { LinkCapture } from '../../api/routes/links.ts';
import type { NodeCreate } from '../../api/routes/nodes.ts';
import type { Topology, TopologyCompute, TopologyLink, TopologyNode } from '../../api/topology.ts';
import { Failure, forbidden, messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import { ongoing } from '../../host/values/progress.ts';
import type { Lab } from '../../store/labs.ts';
import type { Store } from '../../store/store.ts';
import { hasTopologyFile, readTopologyFile, type TopologyFile } from '../../store/topology/file.ts';
import { ComputeRefusal } from '../computes/answers.ts';
import type { Computes } from '../computes/computes.ts';
import { ComputeUnreachable } from '../computes/transport.ts';
import type { Announcer } from '../events.ts';
import { type Filters, storedFilters } from '../links/filters.ts';
import { carriedImpairments, NO_IMPAIRMENTS, plainStyle } from '../links/impairments.ts';
import { impairLine } from '../links/lines.ts';
import { Link } from '../links/link.ts';
import type { Drawings } from './drawings.ts';
import type { LabWriter } from './lab-writer.ts';
import type { LinkPlan, Links } from './links.ts';
import type { Nodes } from './nodes.ts';
import type { PendingRemoteChanges } from './pending-remote-changes.ts';
import type { Project } from './project.ts';
import { type GivenSettings, givenSettings } from './settings.ts';

export interface OpeningParts {
  store: Store;
  computes: Computes;
  nodes: Nodes;
  links: Links;
  drawings: Drawings;
  announcer: Announcer;
  writer: LabWriter;
  remoteChanges: PendingRemoteChanges;
  /** Whether several accounts use this server. */
  isShared: () => Promise<boolean>;
  version: string;
}

/** Settings that an opening does not reread, as in the release. */
const NOT_REREAD = { name: undefined, variables: undefined, supplier: undefined };

export interface OpeningRights {
  /** Whether the lab may open without a node (by id) that its compute rejects. */
  mayBeAbsent?: (id: string) => boolean;
  /** The client may register computes. */
  mayRegister?: boolean;
}

/**
 * Builds the lab of a project from its file. Returns false without a file: the project is then empty.
 * @throws Failure of the file or of a compute; the caller's `undo` rolls back
 */
export async function openLab(
  project: Project,
  parts: OpeningParts,
  undo: AsyncDisposableStack,
  // Also after a crash: closing the lab would end all its programs. What still runs of a refused node is reattached when
  // the node is created, and ends with the lab.
  { mayBeAbsent = () => true, mayRegister = false }: OpeningRights = {},
): Promise<boolean> {
  const path = join(project.record.path, project.record.filename);
  project.clear();
  // A lab left open is tried again: until then its nodes run on.
  undo.defer(async () => {
    if (!project.leftOpen) await closeOnComputes(project);
  });
  if (!(await hasTopologyFile(path))) {
    await parts.store.labs.begin(project.id, { nodes: [], links: [], drawings: [], computes: [] });
    project.recorded = true;
    return false;
  }
  const file = await readTopologyFile(path, { version: parts.version });
  const former = project.leftOpen ? await parts.store.labs.load(project.id) : undefined;
  const given = { ...file.topology, ...NOT_REREAD } as GivenSettings;
  project.record = { ...project.record, ...givenSettings(given) };
  const isTrusted = mayRegister || !(await parts.isShared());
  await adoptComputes(file.topology, parts, isTrusted ? undefined : await knownHosts(former, parts));
  await buildNodes(project, file.topology, parts, mayBeAbsent);
  const finished = project.leftOpen ? await parts.nodes.updates.finishUpdates(project) : [];
  await buildLinks(project, file.topology.topology.links, parts);
  noteCaptures(project, former);
  await parts.drawings.recreate(project, file.topology.topology.drawings);
  ongoing().commit();
  await keep(project, file, parts);
  await parts.nodes.updates.endUpdates(finished);
  // The other captures resume when their links are wired.
  for (const link of project.links.values()) if (!link.unwirable) await parts.links.captures.resume(project, link);
  return true;
}

/** Notes captures that ran when the previous run of the server ended. */
function noteCaptures(project: Project, former: Lab | undefined): void {
  for (const { link_id: id, capture } of former?.links ?? []) {
    const link = project.links.get(id);
    const request = v.safeParse(LinkCapture, capture);
    if (link && request.success) link.formerCapture = request.output;
  }
}

/**
 * Registers the topology's own computes if its nodes use them. Anyone who changes a lab can write its file.
 * @param known the only ones that may be registered, and what is known of them; undefined for all
 * @throws Failure `forbidden` for others
 */
async function adoptComputes(
  { name: lab, topology }: Topology,
  { computes }: OpeningParts,
  known: Map<string, Partial<TopologyCompute>> | undefined,
): Promise<void> {
  const used = new Set(topology.nodes.map((node) => node.compute_id));
  const unknown = topology.computes.filter(({ compute_id: id }) => used.has(id) && computes.adopts(id));
  const strange = known && unknown.find(({ compute_id: id }) => !known.has(id));
  if (strange)
    throw forbidden(
      `compute_id: nodes of the lab "${lab}" are on the host ${strange.name} (${strange.host}:${strange.port}), which is not registered here. An admin can open the lab, which registers the host.`,
    );
  await computes.adopt(unknown.map((compute) => ({ ...compute, ...known?.get(compute.compute_id) })));
}

/** Hosts of the nodes of a lab that is reopened, and of the cluster, which may be dead since this host is the controller. */
async function knownHosts(former: Lab | undefined, { store }: OpeningParts) {
  const members = await store.documents.list('cluster-hosts');
  return new Map<string, Partial<TopologyCompute>>([
    ...(former?.nodes ?? []).map((node) => [String(node['compute_id']), {}] as const),
    // Its address comes with its lease.
    ...members.map(({ id, body }) => [id, { host: String(body['name']) }] as const),
  ]);
}

/** Nodes reattached at the same time. Reattaching mostly waits for the programs' answers, and frames wait for it. */
const TAKEN_BACK_AT_ONCE = 8;

async function buildNodes(
  project: Project,
  { topology }: Topology,
  parts: OpeningParts,
  mayBeAbsent: (id: string) => boolean,
): Promise<void> {
  const { computes, nodes } = parts;
  const progress = ongoing();
  progress.expect(topology.nodes.length, 'nodes');
  const build = async (stored: TopologyNode): Promise<void> => {
    // Compute and name come from the file; the rest could be a client's request.
    const { project_id: _project, status: _status, ports: _ports, node_directory: _directory, ...given } = stored;
    const { command_line: _command, console_host: _host, ...creation } = given;
    const remark = (message: string): void => warn(project, parts, message);
    const policy = { remark, mayBeAbsent: mayBeAbsent(String(stored.node_id)) };
    await nodes.recreate(project, computes.get(stored.compute_id), creation as NodeCreate, policy);
    progress.advance(1, 'nodes');
  };
  const atOnce = project.leftOpen ? TAKEN_BACK_AT_ONCE : 1;
  for (let first = 0; first < topology.nodes.length; first += atOnce) {
    progress.check();
    const built = await Promise.allSettled(topology.nodes.slice(first, first + atOnce).map(build));
    const failed = built.find((each) => each.status === 'rejected');
    if (failed) throw failed.reason;
  }
  if (atOnce > 1) inOrder(project, topology.nodes);
}

/** Lists nodes in the order of the file, not of their creation. */
function inOrder(project: Project, stored: readonly TopologyNode[]): void {
  const known = [...project.nodes];
  const places = new Map(stored.map(({ node_id: id }, index) => [id, index]));
  known.sort(([one], [other]) => (places.get(one) ?? 0) - (places.get(other) ?? 0));
  project.nodes.clear();
  for (const [id, node] of known) project.nodes.set(id, node);
}

async function buildLinks(project: Project, stored: readonly TopologyLink[], parts: OpeningParts): Promise<void> {
  const progress = ongoing();
  for (const entry of stored) {
    progress.check();
    if (entry.link_id === undefined) continue;
    const { filters, left } = storedFilters(entry.filters ?? {});
    for (const reason of left) warn(project, parts, `A filter of the link ${entry.link_id} is left out. ${reason}`);
    const ends = (entry.nodes ?? []).filter(({ node_id: id, adapter_number: adapter, port_number: number }) => {
      const node = project.nodes.get(id);
      return node?.port(adapter, number) !== undefined && project.linkAt(node, adapter, number) === undefined;
    });
    if (ends.length !== 2) {
      warn(project, parts, `The link ${entry.link_id} is left out: it does not join two free ports.`);
      continue;
    }
    const stored = entry.link_style ?? {};
    const { impairments, reason } = carriedImpairments(stored);
    if (reason) warn(project, parts, `The impairments of the link ${entry.link_id} are left out. ${reason}`);
    const style = plainStyle(stored);
    const plan = { ends, filters, style, suspended: entry.suspend ?? false, impairments, loose: project.leftOpen };
    await buildLink(project, entry.link_id, plan, parts);
  }
}

/**
 * Filters and impairments that a compute rejects stay with the link, without effect: they never keep a project from
 * opening.
 */
async function buildLink(project: Project, id: string, plan: LinkPlan, parts: OpeningParts): Promise<void> {
  const build = (filters: Filters): Promise<void> => {
    const bare = { ...plan, filters, impairments: NO_IMPAIRMENTS };
    return parts.links.build(project, new Link(project.id, id), bare, { isNew: false });
  };
  try {
    await build(plan.filters);
  } catch (error) {
    if (!(error instanceof ComputeRefusal && error.code === 'conflict') || Object.keys(plan.filters).length === 0)
      throw error;
    await build({});
    const built = project.link(id);
    built.settings = { ...built.settings, filters: plan.filters };
    warn(project, parts, `The filters of the link ${id} have no effect. ${error.message}`);
  }
  const link = project.link(id);
  link.settings = { ...link.settings, impairments: plan.impairments };
  if (link.unwirable) return;
  await impairLine(link, plan.impairments).catch((error: unknown) => {
    if (!(error instanceof Failure && error.code === 'conflict')) throw error;
    warn(project, parts, `The impairments of the link ${id} have no effect. ${error.message}`);
  });
}

function warn(project: Project, { announcer }: OpeningParts, message: string): void {
  log.warn(message, { project: project.id });
  announcer.project.emit('log.warning', { message }, project.id);
}

/** Records the lab as it is now; it is dirty where it differs from the file (new console ports, links left out ...). */
async function keep(project: Project, file: TopologyFile, { store, writer }: OpeningParts): Promise<void> {
  const contents = {
    nodes: [...project.nodes.values()].map(({ record }) => record),
    links: [...project.links.values()].map(({ kept }) => kept),
    drawings: [...project.drawings.values()].map(({ record }) => record),
    computes: file.topology.topology.computes as { compute_id: string }[],
  };
  const noted = async (): Promise<void> => {
    await store.labs.begin(project.id, contents, { fingerprint: file.fingerprint, project: project.record });
  };
  // A reopened lab is already in the database; even on a full disk its running nodes must not end.
  await (project.leftOpen ? store.makingRoom(noted) : noted());
  // From now on changes go to the database first; changes made during the recording are written now.
  project.recorded = true;
  const stored = new Map(file.topology.topology.nodes.map((node) => [node.node_id, node]));
  const nodes = [...project.nodes.values()].map(({ record }) => record);
  const changed = nodes.filter((record) => !isDeepStrictEqual(stored.get(record.node_id), record));
  if (changed.length > 0)
    await writer.apply(
      project.record,
      changed.map((node) => ({ node })),
    );
}

/** Closes the project on all its computes, whatever they answer; unreachable computes close it when they are back. */
export async function closeOnComputes(project: Project): Promise<void> {
  for (const compute of project.hosts) {
    const close = (): Promise<unknown> => compute.post(`/projects/${project.id}/close`, { connect: false });
    const isTold = await compute.retryOnce(close).then(
      () => true,
      (error: unknown) => {
        log.debug('a compute did not close a project', { compute: compute.id, error: messageOf(error) });
        return !(error instanceof ComputeUnreachable);
      },
    );
    if (isTold) await project.remoteChanges.left(compute, project.id);
  }
  project.hosts.clear();
}
