// Notifications and consoles of release 3.0.6.
import { V3_ROUTES } from '../../api/routes/v3.ts';
import { lineText } from '../../events/json.ts';
import type { Message } from '../../events/message.ts';
import { diskUsage } from '../../host/processes/host-statistics.ts';
import { type Route, type RouteRequest, routesOf, type SocketRoute } from '../../http/app/route.ts';
import { lineStream, type StreamOptions, socketStream } from '../../http/sockets/event-streams.ts';
import { twinOf } from '../../http/v3/dialect.ts';
import { usualParams, v3Failure } from '../../http/v3/form.ts';
import type { Sharing } from '../accounts/sharing.ts';
import { type Announcer, SILENCE_MS } from '../events.ts';
import type { Projects } from '../projects/projects.ts';
import { eventV3 } from './objects.ts';

const { route, socketRoute } = routesOf(V3_ROUTES);

export interface StreamParts {
  announcer: Announcer;
  sharing: Sharing;
  projects: Projects;
  templates: { json: (template: Record<string, unknown>) => Record<string, unknown> };
  /** Load of this host, for pings. */
  usage: () => object;
  /** The folder of labs, whose disk is in pings, too. */
  projectsPath: string;
}

/** Use of a disk. Looking at it takes a moment, so each look is for the next ping. */
class DiskUse {
  readonly #directory: string;
  /** Percent; null while unknown. */
  #last: number | null = null;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async look(): Promise<void> {
    this.#last = await diskUsage(this.#directory).then(
      (percent) => Math.round(percent * 10) / 10,
      () => null,
    );
  }

  get percent(): number | null {
    void this.look();
    return this.#last;
  }
}

export function streamRoutes({ announcer, sharing, projects, usage, templates, projectsPath }: StreamParts): Route[] {
  const disk = new DiskUse(projectsPath);
  /** Made once for all listeners. */
  const lines = new WeakMap<Message, string>();
  const text = (message: Message): string => {
    let line = lines.get(message);
    if (line === undefined) {
      const { action, event } = message;
      const told = eventV3(action, event, (template) => templates.json(template));
      const isOwn = action.startsWith('compute.') && (event as { compute_id?: unknown }).compute_id === 'local';
      line = lineText({ action, event: isOwn ? { ...told, disk_usage_percent: disk.percent } : told });
      lines.set(message, line);
    }
    return line;
  };
  const ping = () => ({ ...usage(), disk_usage_percent: disk.percent });
  const options: StreamOptions = { silence: SILENCE_MS, ping, text, gathers: true };
  const listen = ({ client: { identity } }: Pick<RouteRequest, 'client'>) =>
    announcer.controller.subscribe(
      undefined,
      undefined,
      false,
      identity && (({ event }) => sharing.tells(identity, event)),
    );
  const ofLab = async ({ params }: Pick<RouteRequest, 'params'>) => {
    const { project_id: id } = usualParams(params as Record<string, string>);
    const project = await projects.opened(id!);
    return {
      subscribe: () => announcer.project.subscribe(project.id),
      options: { ...options, left: () => projects.listenerLeft(project) },
    };
  };
  const lab = '/v3/projects/{project_id}/notifications' as const;
  return [
    {
      ...route('GET /v3/notifications', async (request) => {
        await disk.look();
        return inV3(lineStream(listen(request), options));
      }),
      failure: v3Failure,
    },
    socketRoute('/v3/notifications/ws', async (request) => {
      await disk.look();
      return (socket) => socketStream(listen(request), options)(socket);
    }),
    {
      ...route(`GET ${lab}`, async (request) => {
        const of = await ofLab(request);
        await disk.look();
        return inV3(lineStream(of.subscribe(), of.options));
      }),
      failure: v3Failure,
    },
    socketRoute(`${lab}/ws`, async (request) => {
      const of = await ofLab(request);
      await disk.look();
      return (socket) => socketStream(of.subscribe(), of.options)(socket);
    }),
  ];
}

function inV3(response: Response): Response {
  response.headers.set('Content-Type', 'application/json');
  return response;
}

/** The same WebSocket at the address of release 3.0.6. */
export function socketInV3(routes: readonly Route[], pattern: string): SocketRoute {
  const found = twinOf(routes, 'socket', `GET ${pattern}`);
  const accept: SocketRoute['accept'] = (request) =>
    found.accept({ ...request, params: usualParams(request.params as Record<string, string>) });
  return { ...found, pattern: `/v3${pattern}`, accept };
}
