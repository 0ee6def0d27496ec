// Projects over HTTP.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type JournalEntry, PROJECT_ROUTES } from '../../api/routes/projects.ts';
import type { Operations } from '../../events/operations.ts';
import { forbidden } from '../../failures.ts';
import type { Identity } from '../../http/access/identity.ts';
import { downloadFile, uploadFile } from '../../http/app/files.ts';
import { operationId } from '../../http/app/operation-id.ts';
import { type Route, routesOf } from '../../http/app/route.ts';
import { svgResponse } from '../../http/app/svg-response.ts';
import { lineStream, type StreamOptions, socketStream } from '../../http/sockets/event-streams.ts';
import { readOutline } from '../../store/topology/file.ts';
import { requireOwnPaths, type Sharing } from '../accounts/sharing.ts';
import { type Announcer, SILENCE_MS } from '../events.ts';
import { journalStream } from '../lab/journal-stream.ts';
import { isAbout, type Journals } from '../lab/journals.ts';
import type { LabWriter } from '../lab/lab-writer.ts';
import type { Project } from '../lab/project.ts';
import type { Symbols } from '../symbols/symbols.ts';
import { NOTES_FILE, notesFile, readNotes, writeNotes } from './notes.ts';
import type { Projects } from './projects.ts';
import { changedAt } from './scan.ts';
import { thumbnailOf } from './thumbnail.ts';

const { route, socketRoute } = routesOf(PROJECT_ROUTES);

export interface ProjectRouteParts {
  projects: Projects;
  writer: LabWriter;
  announcer: Announcer;
  sharing: Sharing;
  operations: Operations;
  journals: Journals;
  symbols: Symbols;
  /** Load of this host, for pings. */
  usage: () => object;
  /** Whether clients may name paths of this host. */
  local: boolean;
  /** Whether a client may register computes. */
  mayRegister: (identity: Identity | undefined) => boolean;
  /** Number of snapshots of a project. */
  snapshots: (project: Project) => Promise<number>;
}

export function projectRoutes(parts: ProjectRouteParts): Route[] {
  const { projects, writer, announcer, sharing, operations, journals, symbols, usage, local, mayRegister, snapshots } =
    parts;
  const streamOptions = (project: Project): StreamOptions => ({
    silence: SILENCE_MS,
    ping: usage,
    text: (message) => message.line,
    gathers: true,
    left: () => projects.listenerLeft(project),
  });

  /** Announces notes: no compute watches the directory of a lab without nodes on this host. */
  const writing = async (project: Project, path: string, write: () => Promise<void>): Promise<void> => {
    const file = await projects.whileOwning(project, async () => {
      await write();
      // The write counts, even if the file is gone already.
      return path === NOTES_FILE ? notesFile(project.record.path).catch(() => undefined) : undefined;
    });
    if (file) announcer.project.emit('file.updated', { project_id: project.id, ...file }, project.id);
  };

  /** Selects all entries of a lab's journal, or those about a node. */
  const wantedEntries = async (id: string, nodeId: string | undefined): Promise<(entry: JournalEntry) => boolean> => {
    if (nodeId === undefined) return () => true;
    const project = await projects.settled(id);
    const nodes = project.isOpen
      ? [...project.nodes.values()].map(({ id: node_id, name }) => ({ node_id, name }))
      : await projects.stored(project, 'nodes');
    const name = nodes.find(({ node_id }) => node_id === nodeId)?.name;
    return (entry) => isAbout(entry, { id: nodeId, name });
  };

  return [
    route('GET /v2/projects', ({ client: { identity } }) =>
      projects
        .list()
        .filter(({ id }) => sharing.sees(identity, id))
        .map((project) => project.json()),
    ),

    route('POST /v2/projects', async ({ body, client }) => {
      const { identity } = client;
      requireOwnPaths(identity, body.path);
      const id = body.project_id ?? randomUUID();
      return (await sharing.making(id, identity, () => projects.create(body, id))).json();
    }),

    route('POST /v2/projects/load', async ({ body, client }) => {
      if (!local) throw forbidden('path: only a server in local mode (--local) takes paths of its own disk.');
      const { identity } = client;
      const rights = { mayRegister: mayRegister(identity) };
      return (await projects.load(body.path, (id, make) => sharing.making(id, identity, make), rights)).json();
    }),

    route('GET /v2/projects/{project_id}', ({ params }) => projects.get(params.project_id).json()),

    route('PUT /v2/projects/{project_id}', async ({ params, body, client }) => {
      requireOwnPaths(client.identity, body.path);
      return (await projects.update(projects.get(params.project_id), body)).json();
    }),

    route('DELETE /v2/projects/{project_id}', ({ params }) => projects.delete(projects.get(params.project_id))),

    route('GET /v2/projects/{project_id}/stats', async ({ params }) => {
      const project = await projects.settled(params.project_id);
      return {
        nodes: project.nodes.size,
        links: project.links.size,
        drawings: project.drawings.size,
        snapshots: await snapshots(project),
      };
    }),

    // An extension: one request for a whole list of labs.
    route('GET /v2/project-figures', ({ client: { identity } }) =>
      projects
        .list()
        .filter(({ id, isOpen }) => isOpen && sharing.sees(identity, id))
        .map((project) => ({
          project_id: project.id,
          nodes: project.nodes.size,
          running: [...project.nodes.values()].filter(({ status }) => status === 'started').length,
          closes_in_seconds: projects.closesInSeconds(project),
        })),
    ),

    route('GET /v2/project-changes', async ({ client: { identity } }) => {
      const seen = projects.list().filter(({ id }) => sharing.sees(identity, id));
      const changes = seen.map(async ({ id, record }) => ({ project_id: id, changed_at: await changedAt(record) }));
      return Promise.all(changes);
    }),

    route('GET /v2/projects/{project_id}/thumbnail', async ({ params, headers }) => {
      const { record } = projects.get(params.project_id);
      const path = join(record.path, record.filename);
      return svgResponse({
        headers,
        caching: 'private, no-cache',
        tag: `"${(await changedAt(record)) ?? 'unreadable'}"`,
        read: async () => new TextEncoder().encode(await thumbnailOf(await readOutline(path), symbols)),
      });
    }),

    route('GET /v2/projects/{project_id}/notes', async ({ params }) => {
      const project = await projects.settled(params.project_id);
      return readNotes(project.record.path);
    }),

    route('PUT /v2/projects/{project_id}/notes', async ({ params, body }) => {
      const project = await projects.settled(params.project_id);
      await writing(project, NOTES_FILE, () => writeNotes(project.record.path, body));
    }),

    route('GET /v2/projects/{project_id}/journal', async ({ params, query }) => {
      const { id } = projects.get(params.project_id);
      return journals.of(id).filter(await wantedEntries(id, query['node_id']));
    }),

    route('GET /v2/projects/{project_id}/journal/stream', async ({ params, query }) => {
      const { id } = projects.get(params.project_id);
      const wants = await wantedEntries(id, query['node_id']);
      return journalStream({
        journals,
        announcer,
        projectId: id,
        wants,
        isThere: () => projects.find(id) !== undefined,
      });
    }),

    route('POST /v2/projects/{project_id}/open', async ({ params, headers, client }) => {
      const project = projects.get(params.project_id);
      if (project.state === 'opened') return project.json();
      const rights = { mayRegister: mayRegister(client.identity) };
      const wanted = { kind: 'open', name: project.record.name, projectId: project.id, id: operationId(headers) };
      return (await operations.run(wanted, () => projects.open(project, rights))).json();
    }),

    route('POST /v2/projects/{project_id}/close', ({ params }) => projects.close(projects.get(params.project_id))),

    route('GET /v2/projects/{project_id}/files/{path:.+}', async ({ params, headers }) => {
      const project = await projects.settled(params.project_id);
      if (params.path.endsWith('.gns3')) await writer.flush(project.id);
      return downloadFile(project.record.path, params.path, headers);
    }),

    route('POST /v2/projects/{project_id}/files/{path:.+}', async ({ params, stream, signal }) => {
      const project = await projects.settled(params.project_id);
      const { path } = project.record;
      await writing(project, params.path, () =>
        uploadFile(path, params.path, { content: stream, signal, createParents: false }),
      );
    }),

    route('GET /v2/projects/{project_id}/notifications', ({ params, query }) => {
      const project = projects.get(params.project_id);
      return lineStream(announcer.project.subscribe(project.id, query['since']), streamOptions(project));
    }),

    socketRoute('/v2/projects/{project_id}/notifications/ws', ({ params, query }) => {
      const project = projects.get(params.project_id);
      return (socket) =>
        socketStream(announcer.project.subscribe(project.id, query['since']), streamOptions(project))(socket);
    }),
  ];
}
