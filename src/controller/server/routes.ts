// The server itself over HTTP.
import { accepts, type Releases, releaseFor } from '../../api/releases.ts';
import { SERVER_ROUTES } from '../../api/routes/server.ts';
import { conflict, forbidden, messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import type { RequestClient } from '../../http/app/route.ts';
import { type Route, routesOf } from '../../http/app/route.ts';
import { lineStream, type StreamOptions, socketStream } from '../../http/sockets/event-streams.ts';
import { noProject, type Sharing } from '../accounts/sharing.ts';
import type { Computes } from '../computes/computes.ts';
import { type Announcer, SILENCE_MS } from '../events.ts';

const { route, socketRoute } = routesOf(SERVER_ROUTES);

export interface ServerRouteParts {
  releases: Releases;
  local: boolean;
  announcer: Announcer;
  sharing: Sharing;
  computes: Computes;
  usage: () => object;
  /** Ends this process cleanly, a moment later. */
  shutdown: () => void;
  /** Finds projects that were added or removed meanwhile. */
  reload: () => Promise<void>;
  /** Writes the state of everything to files of this host. */
  debug: () => Promise<void>;
}

export function serverRoutes({
  releases,
  local,
  announcer,
  sharing,
  computes,
  usage,
  shutdown,
  reload,
  debug,
}: ServerRouteParts): Route[] {
  const stream: StreamOptions = { silence: SILENCE_MS, ping: usage, text: (message) => message.line, gathers: true };
  /** A stream leaves out labs that are not shared with its listener. */
  const listen = ({ query, client: { identity } }: { query: Record<string, string>; client: RequestClient }) =>
    announcer.controller.subscribe(
      undefined,
      query['since'],
      query['operations'] === 'yes',
      identity && (({ event }) => sharing.tells(identity, event)),
    );

  return [
    route('GET /v2/version', ({ headers }) => ({ version: releaseFor(releases, 'v2', headers), local })),

    route('POST /v2/version', ({ body, headers }) => {
      const version = releaseFor(releases, 'v2', headers);
      if (body.version === version || accepts(releases, body.version)) return { version: body.version };
      throw conflict(`version: the client has ${body.version}, this server ${version}: both must be the same release.`);
    }),

    route('GET /v2/statistics', ({ query: { nodes }, client: { identity } }) => {
      if (nodes !== undefined && !sharing.sees(identity, nodes)) throw noProject(nodes);
      return computes.statistics(nodes);
    }),

    route('POST /v2/shutdown', () => {
      if (!local) throw forbidden('Only a server in local mode (--local) can be shut down by its clients.');
      shutdown();
    }),

    route('POST /v2/debug', async () => {
      if (!local) throw forbidden('Only a server in local mode (--local) writes debug files for its clients.');
      await debug();
    }),

    route('POST /v2/reload', () => {
      reload().catch((error: unknown) => log.error('reload failed', { error: messageOf(error) }));
    }),

    route('GET /v2/notifications', (request) => lineStream(listen(request), stream)),

    socketRoute('/v2/notifications/ws', (request) => (socket) => socketStream(listen(request), stream)(socket)),
  ];
}
