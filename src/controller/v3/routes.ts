// The routes of release 3.0.6 (`/v3`): those of 2.2.57 with their differences, and the few that only 3.0.6 has.
import * as v from 'valibot';
import { Failure } from '../../failures.ts';
import { type HttpRoute, type Route, type RouteRequest, route } from '../../http/app/route.ts';
import { type Difference, inDialect } from '../../http/v3/dialect.ts';
import { inV3Form } from '../../http/v3/form.ts';
import type { Computes } from '../computes/computes.ts';
import type { Project } from '../lab/project.ts';
import type { Projects } from '../projects/projects.ts';
import type { ServerSettings } from '../server/settings.ts';
import type { Templates } from '../templates/templates.ts';
import type { Announcer } from '../events.ts';
import type { Sharing } from '../accounts/sharing.ts';
import { isLocked, isolate, type LabVerbParts, linkInterface, resetLink, setLocked } from './lab-verbs.ts';
import { computeV3, linkV3, newComputeV3, newLinkV3, nodeV2, nodeV3 } from './objects.ts';
import { socketInV3, streamRoutes } from './streams.ts';
import { type TemplateNotes, templateV2 } from './templates.ts';

type Members = Record<string, unknown>;

const LAB = '/projects/{project_id}';
const NODE = `${LAB}/nodes/{node_id}`;
const LINK = `${LAB}/links/{link_id}`;

const listOf =
  (one: (value: Members) => Members) =>
  (values: Members[]): Members[] =>
    values.map(one);
const link: Difference = { answer: linkV3 };
const none: Difference = { status: 204 };
const ACTIONS = ['start', 'stop', 'suspend', 'reload'];

export interface V3RouteParts extends LabVerbParts {
  /** The routes of 2.2.57. */
  routes: readonly Route[];
  projects: Projects;
  computes: Computes;
  templates: Templates;
  notes: TemplateNotes;
  announcer: Announcer;
  sharing: Sharing;
  usage: () => object;
  settings: ServerSettings;
  version: string;
  local: boolean;
}

/** By method and path without the version. */
function differences(
  typeOf: (params: Readonly<Record<string, string>>) => string | undefined,
  notes: TemplateNotes,
  templates: Templates,
): Record<string, Difference> {
  const template = (params: Record<string, string>) => ({ ...params, template_id: notes.idOf(params['template_id']!) });
  const ownTemplate = (params: Record<string, string>) => ({ ...params, template_id: notes.ownId(params['template_id']!) });
  return {
    'GET /statistics': {},
    'POST /reload': none,
    'POST /shutdown': none,
    'GET /gns3vm': {},
    'PUT /gns3vm': { status: 200 },
    'GET /gns3vm/engines': {},
    'GET /gns3vm/engines/{engine}/vms': {},

    'GET /projects': {},
    'POST /projects': { body: withoutPath },
    'POST /projects/load': {},
    [`GET ${LAB}`]: {},
    [`PUT ${LAB}`]: {},
    [`DELETE ${LAB}`]: {},
    [`GET ${LAB}/stats`]: {},
    [`POST ${LAB}/open`]: {},
    [`POST ${LAB}/close`]: {},
    [`POST ${LAB}/duplicate`]: {},
    [`GET ${LAB}/export`]: {},
    [`POST ${LAB}/import`]: {},
    [`GET ${LAB}/files/{path:.+}`]: {},
    [`POST ${LAB}/files/{path:.+}`]: none,
    [`POST ${LAB}/templates/{template_id}`]: {
      params: template,
      body: (sent) => ({ compute_id: 'local', ...sent }),
      answer: nodeV3,
    },

    [`GET ${LAB}/nodes`]: { answer: listOf(nodeV3) },
    [`POST ${LAB}/nodes`]: { body: (sent) => nodeV2(sent), answer: nodeV3 },
    ...Object.fromEntries(ACTIONS.map((action) => [`POST ${LAB}/nodes/${action}`, none])),
    [`POST ${LAB}/nodes/console/reset`]: none,
    [`GET ${NODE}`]: { answer: nodeV3 },
    [`PUT ${NODE}`]: { body: (sent, params) => nodeV2(sent, typeOf(params)), answer: nodeV3 },
    [`DELETE ${NODE}`]: {},
    [`POST ${NODE}/duplicate`]: { answer: nodeV3 },
    ...Object.fromEntries(
      ACTIONS.map((action) => [`POST ${NODE}/${action}`, { ...none, needsBody: action === 'start' }]),
    ),
    [`POST ${NODE}/console/reset`]: none,
    [`GET ${NODE}/links`]: { answer: listOf(linkV3) },
    [`GET ${NODE}/dynamips/auto_idlepc`]: {},
    [`GET ${NODE}/dynamips/idlepc_proposals`]: {},
    [`GET ${NODE}/files/{path:.+}`]: {},
    [`POST ${NODE}/files/{path:.+}`]: { status: 201 },

    [`GET ${LAB}/links`]: { answer: listOf(linkV3) },
    [`POST ${LAB}/links`]: { answer: newLinkV3, body: withTwoEnds },
    [`GET ${LINK}`]: link,
    [`PUT ${LINK}`]: { ...link, status: 200 },
    [`DELETE ${LINK}`]: {},
    [`GET ${LINK}/available_filters`]: {},
    [`POST ${LINK}/capture/start`]: { answer: newLinkV3, as: `POST ${LINK}/start_capture`, needsBody: true },
    [`POST ${LINK}/capture/stop`]: { ...none, as: `POST ${LINK}/stop_capture` },
    [`GET ${LINK}/capture/stream`]: { as: `GET ${LINK}/pcap` },

    [`GET ${LAB}/drawings`]: {},
    [`POST ${LAB}/drawings`]: {},
    [`GET ${LAB}/drawings/{drawing_id}`]: {},
    [`PUT ${LAB}/drawings/{drawing_id}`]: { status: 200 },
    [`DELETE ${LAB}/drawings/{drawing_id}`]: {},

    [`GET ${LAB}/snapshots`]: {},
    [`POST ${LAB}/snapshots`]: {},
    [`DELETE ${LAB}/snapshots/{snapshot_id}`]: {},
    [`POST ${LAB}/snapshots/{snapshot_id}/restore`]: {},

    'GET /symbols': {},
    'GET /symbols/default_symbols': { as: 'GET /default_symbols' },
    'GET /symbols/{symbol_id:.+}/raw': {},
    'GET /symbols/{symbol_id:.+}/dimensions': {},
    'POST /symbols/{symbol_id:.+}/raw': none,

    'GET /computes': { answer: listOf(computeV3) },
    'POST /computes': { answer: newComputeV3, before: requirePort },
    'GET /computes/{compute_id}': { answer: computeV3 },
    'PUT /computes/{compute_id}': { answer: newComputeV3, before: requirePort },
    'GET /computes/{compute_id}/{emulator}/{action:.+}': {},
    'POST /computes/{compute_id}/{emulator}/{action:.+}': {},
    'PUT /computes/{compute_id}/{emulator}/{action:.+}': {},

    'GET /appliances': {},

    'GET /templates': { answer: listOf((one) => notes.json(one)) },
    'POST /templates': {
      body: (sent) => templateV2({ compute_id: null, ...sent }, sent['template_type']),
      before: (sent) => notes.requireNew(sent),
      after: (made: Members, sent) => notes.keep(String(made['template_id']), sent),
      refusal: 400,
      answer: (one: Members) => notes.json(one),
    },
    'GET /templates/{template_id}': { params: template, answer: (one: Members) => notes.json(one) },
    'PUT /templates/{template_id}': {
      params: ownTemplate,
      body: (sent, params) => templateV2(sent, templates.get(params['template_id']!).template_type),
      after: (_made, sent, params) => notes.keep(params['template_id']!, sent),
      refusal: 400,
      answer: (one: Members) => notes.json(one),
    },
    'DELETE /templates/{template_id}': {
      params: ownTemplate,
      after: (_gone, _sent, params) => notes.forget(params['template_id']!),
    },
    'POST /templates/{template_id}/duplicate': {
      params: ownTemplate,
      after: (made: Members, _sent, params) => notes.keep(String(made['template_id']), notes.json(templates.get(params['template_id']!) as Members)),
      answer: (one: Members) => notes.json(one),
    },
  };
}

function withoutPath(sent: Members): Members {
  if (sent['path'] != null) throw new Failure('forbidden', 'path: this server chooses the folders of its labs.');
  return sent;
}

/** @throws Failure `invalid` */
function requirePort({ port }: Members): void {
  if (typeof port === 'number' && (port < 1 || port > 65_535))
    throw new Failure('invalid', 'Invalid request: port: expected a number from 1 to 65535.');
}

function withTwoEnds(sent: Members): Members {
  const nodes = sent['nodes'];
  if (!Array.isArray(nodes) || nodes.length < 2)
    throw new Failure('invalid', 'Invalid request: nodes: expected at least two ends.');
  const { link_type: _type, ...kept } = sent;
  return kept;
}

const IouLicence = v.object({ iourc_content: v.string(), license_check: v.boolean() });

function iouLicence(settings: ServerSettings): Members {
  const { iourc_content, license_check } = settings.get('iou_license');
  return { iourc_content, license_check };
}

const Version = v.object({ version: v.string(), local: v.optional(v.nullable(v.boolean())) });

export function v3Routes(parts: V3RouteParts): Route[] {
  const { routes, projects, computes, notes, templates, version, local } = parts;
  const typeOf = (params: Readonly<Record<string, string>>): string | undefined =>
    projects.find(params['project_id']!)?.nodes.get(params['node_id']!)?.type;
  const opened = (params: Members): Promise<Project> => projects.opened(String(params['project_id']));
  const own = <Params extends string>(
    spelling: `${HttpRoute['method']} /v3${Params}`,
    status: number,
    handle: (params: Record<string, string>, request: RouteRequest) => unknown,
  ): HttpRoute => {
    const [method, pattern] = spelling.split(' ') as [HttpRoute['method'], string];
    const given: HttpRoute = {
      kind: 'http',
      method,
      pattern,
      options: { status },
      handle: async (request) => (await handle(request.params, request)) as object | undefined,
    };
    return inV3Form(given);
  };
  return [
    inV3Form(
      route('POST /v3/version', { body: Version }, ({ body, headers }) => {
        const spoken = versionFor(version, headers);
        if (body.version === spoken) return { version: spoken };
        throw new Failure('conflict', `version: the client has ${body.version}, this server ${spoken}.`);
      }),
    ),
    own('GET /v3/version', 200, (_params, { headers, host }) => ({
      controller_host: host.replace(/:\d+$/, ''),
      version: versionFor(version, headers),
      local,
    })),
    own(`POST /v3${LAB}/lock`, 204, async (params) => setLocked(await opened(params), true, parts)),
    own(`POST /v3${LAB}/unlock`, 204, async (params) => setLocked(await opened(params), false, parts)),
    own(`GET /v3${LAB}/locked`, 200, async (params) => isLocked(await opened(params))),
    own(`POST /v3${NODE}/isolate`, 204, async (params) =>
      isolate(await opened(params), params['node_id']!, true, parts.links),
    ),
    own(`POST /v3${NODE}/unisolate`, 204, async (params) =>
      isolate(await opened(params), params['node_id']!, false, parts.links),
    ),
    own(`POST /v3${LINK}/reset`, 200, async (params) =>
      linkV3((await resetLink(await opened(params), params['link_id']!)).json() as unknown as Members),
    ),
    own(`GET /v3${LINK}/iface`, 200, async (params) => linkInterface((await opened(params)).link(params['link_id']!))),
    own('POST /v3/computes/{compute_id}/connect', 204, async ({ compute_id: id }) => {
      await computes.get(id!).connect();
      return undefined;
    }),
    inV3Form(route('GET /v3/iou_license', {}, () => iouLicence(parts.settings))),
    inV3Form(
      route('PUT /v3/iou_license', { body: IouLicence, status: 201 }, async ({ body }) => {
        await parts.settings.update('iou_license', body);
        return iouLicence(parts.settings);
      }),
    ),
    own('DELETE /v3/computes/{compute_id}', 204, async ({ compute_id: id }) => {
      computes.get(id!);
      await computes.delete(id!);
      return undefined;
    }),
    ...streamRoutes({ ...parts, templates: notes }),
    socketInV3(routes, `${NODE}/console/ws`),
    ...Object.entries(differences(typeOf, notes, templates)).map(([spelling, difference]) => inDialect(routes, spelling, difference)),
  ];
}

/** The release that a client of its own family is told. */
function versionFor(_given: string, headers: Headers): string {
  const [, own] = /GNS3 QT Client v(3\.\d+\.\d+)/.exec(headers.get('user-agent') ?? '') ?? [];
  return own ?? RELEASE;
}

const RELEASE = '3.0.6';
