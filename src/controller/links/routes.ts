// Links over HTTP.
import { PRESETS } from '../../api/impairment-presets.ts';
import { LINK_ROUTES } from '../../api/routes/links.ts';
import { lastBytes } from '../../http/app/query.ts';
import { type Route, routesOf } from '../../http/app/route.ts';
import { changeLink } from '../lab/link-changes.ts';
import type { Links } from '../lab/links.ts';
import type { Project } from '../lab/project.ts';
import type { Projects } from '../projects/projects.ts';
import { captureFile, captureFiles } from './capture-files.ts';
import { counterInterval, feedCounters } from './counters.ts';
import { FILTERS } from './filters.ts';
import { cancelLineSchedule, lineSchedule, lineStatistics, resetLineStatistics, startLineSchedule } from './lines.ts';
import type { Link } from './link.ts';
import { capturedLinks, mergedCaptures } from './merged-captures.ts';
import { outsideOf } from './outside-end.ts';

const { route, socketRoute } = routesOf(LINK_ROUTES);

const PCAPNG = 'application/x-pcapng';

type LinkPath = Record<'project_id' | 'link_id', string>;

export function linkRoutes({ projects, links }: { projects: Projects; links: Links }): Route[] {
  const find = async (params: LinkPath): Promise<{ project: Project; link: Link }> => {
    const project = await projects.opened(params.project_id);
    return { project, link: project.link(params.link_id) };
  };

  return [
    route('GET /v2/projects/{project_id}/links', async ({ params }) => {
      const project = await projects.settled(params.project_id);
      if (project.state === 'closed') return projects.stored(project, 'links');
      return [...project.links.values()].map((link) => link.json());
    }),

    route('POST /v2/projects/{project_id}/links', async ({ params, body }) =>
      (await links.create(projects.get(params.project_id), body)).json(),
    ),

    route('GET /v2/projects/{project_id}/links/{link_id}', async ({ params }) => (await find(params)).link.json()),

    route('PUT /v2/projects/{project_id}/links/{link_id}', async ({ params, body }) => {
      const { project, link } = await find(params);
      return (await links.update(project, link.id, body)).json();
    }),

    route('DELETE /v2/projects/{project_id}/links/{link_id}', async ({ params }) => {
      const { project, link } = await find(params);
      await links.delete(project, link.id);
    }),

    route('GET /v2/projects/{project_id}/links/{link_id}/available_filters', async ({ params }) => {
      const { link } = await find(params);
      return link.filteringEnd ? FILTERS : [];
    }),

    route('POST /v2/projects/{project_id}/links/{link_id}/start_capture', async ({ params, body }) => {
      const { project, link } = await find(params);
      return (await links.captures.start(project, link.id, body)).json();
    }),

    route('POST /v2/projects/{project_id}/links/{link_id}/stop_capture', async ({ params }) => {
      const { project, link } = await find(params);
      return (await links.captures.stop(project, link.id)).json();
    }),

    route('POST /v2/projects/{project_id}/links/{link_id}/reset', async ({ params }) => {
      const { project, link } = await find(params);
      return (await links.reset(project, link.id)).json();
    }),

    route('GET /v2/projects/{project_id}/links/{link_id}/iface', async ({ params }) =>
      outsideOf((await find(params)).link),
    ),

    route('GET /v2/impairments/presets', () => [...PRESETS]),

    route('GET /v2/projects/{project_id}/links/{link_id}/statistics', async ({ params }) =>
      lineStatistics((await find(params)).link),
    ),

    route('POST /v2/projects/{project_id}/links/{link_id}/statistics/reset', async ({ params }) => {
      const { project, link } = await find(params);
      await changeLink(project, link.id, resetLineStatistics);
    }),

    route('GET /v2/projects/{project_id}/links/{link_id}/schedule', async ({ params }) =>
      lineSchedule((await find(params)).link),
    ),

    route('POST /v2/projects/{project_id}/links/{link_id}/schedule', async ({ params, body }) => {
      const { project, link } = await find(params);
      return changeLink(project, link.id, (found) => startLineSchedule(found, body));
    }),

    route('DELETE /v2/projects/{project_id}/links/{link_id}/schedule', async ({ params }) => {
      const { project, link } = await find(params);
      await changeLink(project, link.id, cancelLineSchedule);
    }),

    route('GET /v2/projects/{project_id}/links/{link_id}/pcap', async ({ params, query, signal }) => {
      const answer = await links.captures.pcap((await find(params)).link, signal, lastBytes(query));
      // The release's content type, unless the release does not have the format.
      const pcapng = answer.headers.get('content-type')?.startsWith(PCAPNG);
      return new Response(answer.body, {
        headers: { 'Content-Type': pcapng ? PCAPNG : 'application/vnd.tcpdump.pcap' },
      });
    }),

    socketRoute('/v2/projects/{project_id}/links/{link_id}/pcap/ws', async ({ params, query }) =>
      links.captures.pcapSocket((await find(params)).link, lastBytes(query)),
    ),

    socketRoute('/v2/projects/{project_id}/links/statistics/ws', async ({ params, query }) => {
      const milliseconds = counterInterval(query);
      const project = await projects.opened(params.project_id);
      return (socket) => void feedCounters(project, socket, milliseconds);
    }),

    route('GET /v2/projects/{project_id}/captures', async ({ params }) => {
      const project = await projects.settled(params.project_id);
      return captureFiles(project.record.path, project.links.values());
    }),

    route('GET /v2/projects/{project_id}/captures/{name}', async ({ params, signal }) => {
      const { id, record, links: all } = await projects.settled(params.project_id);
      return captureFile({ projectId: id, directory: record.path, links: all.values(), name: params.name, signal });
    }),

    route('GET /v2/projects/{project_id}/merged-captures', async ({ params, query, signal }) => {
      const { id, record, links: all } = await projects.settled(params.project_id);
      const wanted = capturedLinks([...all.values()], query['links']);
      return mergedCaptures(wanted, { projectId: id, directory: record.path, signal });
    }),
  ];
}
