// The routes of release 3.0.6 (`/v3`): those of 2.2.57 with their differences, and the few that only 3.0.6 has.
import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { LongerDisk, NewDisk } from '../../api/kinds/qemu.ts';
import { type Releases, releaseFor } from '../../api/releases.ts';
import type { TemplateUsage } from '../../api/routes/templates.ts';
import { V3_ROUTES } from '../../api/routes/v3.ts';
import { conflict, forbidden, invalid } from '../../failures.ts';
import { relativeBelow } from '../../host/files/relative-path.ts';
import { taggedText } from '../../http/app/entity-tags.ts';
import type { Route } from '../../http/app/route.ts';
import { type Difference, inDialect } from '../../http/v3/dialect.ts';
import { v3RoutesOf, WrongRequest } from '../../http/v3/form.ts';
import { truthOf } from '../../http/v3/lenient.ts';
import type { AccessList } from '../accounts/access-list.ts';
import type { Sharing } from '../accounts/sharing.ts';
import type { Compute } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import type { Announcer } from '../events.ts';
import type { Node } from '../nodes/node.ts';
import type { Projects } from '../projects/projects.ts';
import type { ServerSettings } from '../server/settings.ts';
import { nodeRequest } from '../templates/node-request.ts';
import type { Instantiate } from '../templates/routes.ts';
import { type ApplianceParts, applianceRoutes, installAppliances } from './appliances.ts';
import { EXPORT_DEFINITION, exportProblem, exportQuery } from './export-query.ts';
import { type ImageParts, Images, imageRoutes } from './images.ts';
import {
  computeV3,
  diskV2,
  linkV3,
  newComputeV3,
  newLinkV3,
  nodeV2,
  nodeV3,
  symbolsV3,
  timeV3,
  withSymbol,
} from './objects.ts';
import { socketInV3, streamRoutes } from './streams.ts';
import { type TemplateNotes, templateV2 } from './templates.ts';

const { route } = v3RoutesOf(V3_ROUTES);

type Members = Record<string, unknown>;

const LAB = '/projects/{project_id}';
const NODE = `${LAB}/nodes/{node_id}`;
const LINK = `${LAB}/links/{link_id}`;
const DISK = `${NODE}/disks/{disk_name}`;
/** Clients send pictures within a drawing; release 3.0.6 has no limit. */
const DRAWING_BYTES = 32 * 1024 * 1024;

const listOf =
  (one: (value: Members) => Members) =>
  (values: Members[]): Members[] =>
    values.map(one);
const link: Difference = { answer: linkV3 };
const none: Difference = { status: 204 };
const ACTIONS = ['start', 'stop', 'suspend', 'reload'];

export interface V3RouteParts extends ImageParts, ApplianceParts {
  /** Those of 2.2.57. */
  routes: readonly Route[];
  projects: Projects;
  computes: Computes;
  notes: TemplateNotes;
  announcer: Announcer;
  sharing: Sharing;
  entries: AccessList;
  usage: () => object;
  settings: ServerSettings;
  instantiate: Instantiate;
  /** The folder of labs. */
  projectsPath: string;
  releases: Releases;
  /** Whether clients may name paths of this host. */
  isLocal: boolean;
}

/** By method and path without the version. */
function differences(
  { projects, computes, notes, templates, projectsPath, instantiate }: V3RouteParts,
  images: Images,
): Record<string, Difference> {
  const nodeAt = (params: Readonly<Record<string, string>>): Node | undefined =>
    projects.find(params['project_id']!)?.nodes.get(params['node_id']!);
  const ofQemu: Difference = { ...none, problem: (_query, params) => notOf('qemu', nodeAt(params)?.type) };
  const ofDynamips: Difference = { problem: (_query, params) => notOf('dynamips', nodeAt(params)?.type) };
  const template = (params: Record<string, string>) => ({ ...params, template_id: notes.idOf(params['template_id']!) });
  const ownTemplate = (params: Record<string, string>) => ({
    ...params,
    template_id: notes.ownId(params['template_id']!),
  });
  return {
    'GET /statistics': {},
    'POST /reload': none,
    'POST /shutdown': none,
    'GET /gns3vm': {},
    'PUT /gns3vm': { status: 200 },
    'GET /gns3vm/engines': {},
    'GET /gns3vm/engines/{engine}/vms': {},

    'POST /projects': { body: withoutPath, before: requireAddress, needsBody: true },
    'POST /projects/load': {},
    [`GET ${LAB}`]: {},
    [`PUT ${LAB}`]: {
      before: (sent, params) => {
        requireAddress(sent);
        requireInside(sent, projectsPath, projects.find(params['project_id']!)?.record.path);
      },
    },
    [`DELETE ${LAB}`]: {},
    [`GET ${LAB}/stats`]: {},
    [`GET ${LAB}/locked`]: {},
    [`POST ${LAB}/lock`]: {},
    [`POST ${LAB}/unlock`]: {},
    [`POST ${LAB}/open`]: {},
    [`POST ${LAB}/close`]: {},
    [`POST ${LAB}/duplicate`]: {},
    [`GET ${LAB}/export`]: { query: exportQuery, problem: exportProblem, definition: EXPORT_DEFINITION },
    [`POST ${LAB}/import`]: {},
    [`GET ${LAB}/files/{path:.+}`]: { type: 'application/octet-stream' },
    [`POST ${LAB}/files/{path:.+}`]: none,
    [`POST ${LAB}/templates/{template_id}`]: {
      params: template,
      around: (_run, { body, params }) => {
        const usage: TemplateUsage = body;
        const request = () => nodeRequest(templates.get(params['template_id']!), usage, usage.compute_id ?? 'local');
        return instantiate(params['project_id']!, request);
      },
      answer: fromTemplate,
    },

    [`GET ${LAB}/nodes`]: { answer: listOf(nodeV3) },
    [`POST ${LAB}/nodes`]: {
      body: (sent) => nodeV2(sent),
      before: (sent) => {
        requireType(sent);
        requireName(sent['name'], sent['node_type']);
      },
      answer: nodeV3,
    },
    ...Object.fromEntries(ACTIONS.map((action) => [`POST ${LAB}/nodes/${action}`, none])),
    [`POST ${LAB}/nodes/console/reset`]: none,
    [`GET ${NODE}`]: { answer: nodeV3 },
    [`PUT ${NODE}`]: {
      body: (sent, params) => nodeV2(sent, nodeAt(params)?.type),
      before: ({ name }, params) => {
        const node = nodeAt(params);
        // One that a client of 2.2 has named keeps its name.
        if (name !== node?.name) requireName(name, node?.type);
      },
      answer: nodeV3,
    },
    [`DELETE ${NODE}`]: {},
    [`POST ${NODE}/duplicate`]: { answer: nodeV3 },
    ...Object.fromEntries(
      ACTIONS.map((action) => [`POST ${NODE}/${action}`, { ...none, needsBody: action === 'start' }]),
    ),
    [`POST ${NODE}/console/reset`]: none,
    [`POST ${NODE}/isolate`]: {},
    [`POST ${NODE}/unisolate`]: {},
    [`GET ${NODE}/links`]: { answer: listOf(linkV3) },
    [`POST ${NODE}/qemu/disk_image/{disk_name}`]: { ...ofQemu, as: `POST ${DISK}`, body: diskV2(NewDisk) },
    [`PUT ${NODE}/qemu/disk_image/{disk_name}`]: { ...ofQemu, as: `PUT ${DISK}`, body: diskV2(LongerDisk) },
    [`DELETE ${NODE}/qemu/disk_image/{disk_name}`]: { ...ofQemu, as: `DELETE ${DISK}` },
    [`GET ${NODE}/dynamips/auto_idlepc`]: ofDynamips,
    [`GET ${NODE}/dynamips/idlepc_proposals`]: ofDynamips,
    [`GET ${NODE}/files/{path:.+}`]: { type: 'application/octet-stream' },
    [`POST ${NODE}/files/{path:.+}`]: { status: 201, definition: { answerType: 'application/json' } },

    [`GET ${LAB}/links`]: { answer: listOf(linkV3) },
    [`POST ${LAB}/links`]: { answer: newLinkV3, body: withTwoEnds },
    [`GET ${LINK}`]: link,
    [`PUT ${LINK}`]: { ...link, status: 200 },
    [`DELETE ${LINK}`]: {},
    [`POST ${LINK}/reset`]: link,
    [`GET ${LINK}/iface`]: {},
    [`GET ${LINK}/available_filters`]: {},
    [`POST ${LINK}/capture/start`]: { answer: newLinkV3, as: `POST ${LINK}/start_capture`, needsBody: true },
    [`POST ${LINK}/capture/stop`]: { ...none, as: `POST ${LINK}/stop_capture` },
    [`GET ${LINK}/capture/stream`]: { as: `GET ${LINK}/pcap` },

    [`GET ${LAB}/drawings`]: {},
    [`POST ${LAB}/drawings`]: { limitBytes: DRAWING_BYTES },
    [`GET ${LAB}/drawings/{drawing_id}`]: {},
    [`PUT ${LAB}/drawings/{drawing_id}`]: { status: 200, limitBytes: DRAWING_BYTES },
    [`DELETE ${LAB}/drawings/{drawing_id}`]: {},

    [`GET ${LAB}/snapshots`]: {},
    [`POST ${LAB}/snapshots`]: {},
    [`DELETE ${LAB}/snapshots/{snapshot_id}`]: {},
    [`POST ${LAB}/snapshots/{snapshot_id}/restore`]: {},

    'GET /symbols': {},
    'GET /symbols/default_symbols': { as: 'GET /default_symbols', answer: symbolsV3 },
    'GET /symbols/{symbol_id:.+}/raw': { definition: { open: true } },
    'GET /symbols/{symbol_id:.+}/dimensions': {},
    'POST /symbols/{symbol_id:.+}/raw': none,

    // The controller's own compute is not in the list.
    'GET /computes': {
      answer: (list: Members[]) => list.filter((one) => one['compute_id'] !== 'local').map(computeV3),
    },
    'POST /computes': {
      answer: newComputeV3,
      before: (sent) => {
        requirePort(sent);
        const { compute_id: id, protocol, host, port } = sent;
        const isSame = (one: Compute): boolean => {
          const { protocol: itsProtocol, host: itsHost, port: itsPort } = one.json();
          // Without an identifier the address is one.
          return id == null ? itsProtocol === protocol && itsHost === host && itsPort === Number(port) : one.id === id;
        };
        if (computes.list().some(isSame))
          throw new WrongRequest(`${id == null ? 'host' : 'compute_id'}: this compute is registered already.`);
      },
      errors: [400],
    },
    'GET /computes/{compute_id}': { answer: computeV3 },
    'PUT /computes/{compute_id}': { answer: newComputeV3, before: requirePort },
    'POST /computes/{compute_id}/dynamips/auto_idlepc': { as: 'POST /computes/{compute_id}/auto_idlepc' },
    'GET /computes/{compute_id}/{emulator}/{action:.+}': {},
    'POST /computes/{compute_id}/{emulator}/{action:.+}': {},
    'PUT /computes/{compute_id}/{emulator}/{action:.+}': {},

    'GET /templates': { answer: listOf((one) => notes.json(one)) },
    'POST /templates': {
      body: (sent) => templateV2({ compute_id: null, ...withSymbol(sent) }),
      before: async (sent) => {
        requireType(sent);
        notes.requireNew(sent);
        await images.requireAll(sent);
      },
      errors: [404],
      around: (run, { sent, body }) => {
        const id = (body as Members)['template_id'] ?? randomUUID();
        // Nothing changes for an existing one.
        if (templates.list().some((one) => one.template_id === id)) return run();
        return notes.keep(String(id), sent, () => run({ ...(body as Members), template_id: id }));
      },
      refusal: 400,
      answer: (one: Members) => notes.json(one),
    },
    'GET /templates/{template_id}': {
      params: template,
      around: async (_run, { params, headers }) =>
        taggedText(JSON.stringify(notes.json({ ...templates.get(params['template_id']!) })), headers),
    },
    'PUT /templates/{template_id}': {
      params: ownTemplate,
      body: (sent, params) => templateV2(sent, templates.get(params['template_id']!)),
      around: (run, { sent, params }) => {
        const { template_id: id } = templates.get(params['template_id']!);
        return notes.keep(id, sent, run);
      },
      refusal: 400,
      answer: (one: Members) => notes.json(one),
    },
    'POST /templates/{template_id}/duplicate': {
      params: ownTemplate,
      around: (_run, { params }) => {
        const template = templates.get(params['template_id']!);
        const copy = randomUUID();
        return notes.keep(copy, notes.json({ ...template }), () => templates.duplicate(template.template_id, copy));
      },
      answer: (one: Members) => notes.json(one),
    },
  };
}

/** @throws Failure `forbidden` for a path that is neither in the folder of labs nor the present one */
function requireInside({ path }: Members, root: string, present: string | undefined): void {
  if (typeof path !== 'string' || path === '' || path === present) return;
  if (relativeBelow(root, resolve(root, path)) === undefined)
    throw forbidden('path: labs stay in the folder of labs; give the name of a folder in it.');
}

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const HOST_NAME = {
  form: new RegExp(`^(?:${LABEL}\\.)*(?!\\d+$)${LABEL}$`, 'i'),
  words: 'letters, digits and hyphens, with dots between',
};
const IOS_NAME = { form: /^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/i, words: 'letters, digits and hyphens, a letter first' };
/** The names that release 3.0.6 wants of nodes, by type. */
const NAMES: Readonly<Record<string, typeof HOST_NAME>> = {
  qemu: HOST_NAME,
  docker: HOST_NAME,
  dynamips: IOS_NAME,
  iou: IOS_NAME,
};

/** @throws Failure `conflict` for a name that the guest cannot have */
function requireName(name: unknown, type: unknown): void {
  const wanted = NAMES[String(type)];
  // Numbers take the place of braces, and blanks are taken out.
  if (wanted === undefined || typeof name !== 'string') return;
  if (!wanted.form.test(name.replaceAll(/\{\w*\}/g, '1').replaceAll(' ', '')))
    throw conflict(`name: "${name}" is no name for a node of type ${String(type)}: use ${wanted.words}.`);
}

/** @throws Failure `invalid` for a type that release 3.0.6 does not have */
function requireType({ node_type: node, template_type: template }: Members): void {
  if ((node ?? template) !== 'traceng') return;
  const member = node === undefined ? 'template_type' : 'node_type';
  throw invalid(`Invalid request: ${member}: release 3 has no traceng; use vpcs, whose "trace" does the same.`);
}

function withoutPath(sent: Members): Members {
  if (sent['path'] != null) throw forbidden('path: this server chooses the folders of its labs.');
  return sent;
}

/** @throws Failure `invalid` */
function requirePort({ port }: Members): void {
  if (port != null && (Number(port) < 1 || Number(port) > 65_535))
    throw invalid('Invalid request: port: expected a number from 1 to 65535.');
}

function withTwoEnds(sent: Members): Members {
  const nodes = sent['nodes'];
  if (!Array.isArray(nodes) || nodes.length < 2) throw invalid('Invalid request: nodes: expected at least two ends.');
  const { link_type: _type, ...kept } = sent;
  return kept;
}

function notOf(wanted: string, type: string | undefined): string | undefined {
  return type === undefined || type === wanted
    ? undefined
    : `node_id: this is for nodes of type ${wanted}, not ${type}.`;
}

function iouLicence(settings: ServerSettings): Members {
  const { iourc_content, license_check } = settings.get('iou_license');
  return { iourc_content, license_check };
}

/** @throws Failure `invalid` */
function requireAddress({ supplier }: Members): void {
  const url = (supplier as Members | null | undefined)?.['url'];
  if (url != null && !URL.canParse(String(url)))
    throw invalid('Invalid request: supplier.url: expected an address such as https://host/.');
}

/** A node of a template has these, too, in the answer that creates it. */
function fromTemplate(node: Members): Members {
  const made = nodeV3(node);
  const now = timeV3(new Date());
  return {
    ...made,
    properties: { builtin: false, created_at: now, updated_at: now, ...(made['properties'] as Members) },
  };
}

export function v3Routes(parts: V3RouteParts): Route[] {
  const { routes, projects, computes, settings, sharing, entries, notes, templates, isLocal, releases } = parts;
  const images = new Images(parts);
  return [
    route('POST /v3/version', ({ body, headers }) => {
      const spoken = releaseFor(releases, 'v3', headers);
      if (body.version === spoken) return { version: spoken };
      throw conflict(`version: the client has ${body.version}, this server ${spoken}.`);
    }),
    route('GET /v3/version', ({ headers, host }) => ({
      controller_host: host.replace(/:\d+$/, ''),
      version: releaseFor(releases, 'v3', headers),
      local: isLocal,
    })),
    route('POST /v3/computes/{compute_id}/connect', ({ params }) => computes.answering(params.compute_id).connect()),
    route('GET /v3/iou_license', () => iouLicence(settings)),
    route('PUT /v3/iou_license', async ({ body }) => {
      await settings.update('iou_license', body);
      return iouLicence(settings);
    }),
    // An entry for one lab alone lets it be read, and does not list it.
    route('GET /v3/projects', ({ client: { identity } }) =>
      projects
        .list()
        .filter(
          ({ id }) =>
            sharing.accessOf(identity, id) !== 'none' || (identity !== undefined && entries.lists(identity, id)),
        )
        .map((project) => project.json()),
    ),
    route('DELETE /v3/computes/{compute_id}', async ({ params: { compute_id: id } }) => {
      computes.host(id);
      await computes.delete(id);
    }),
    route('DELETE /v3/templates/{template_id}', async ({ params, query }) => {
      const id = notes.ownId(params.template_id);
      const template = templates.get(id);
      await templates.delete(id);
      await notes.forget(id);
      if (truthOf(query['prune_images'] ?? '') === true) await images.prune(template);
    }),
    ...imageRoutes(images, parts, ({ signal }, image) => installAppliances(parts, { signal, image })),
    ...applianceRoutes(parts),
    ...streamRoutes({ ...parts, templates: notes }),
    socketInV3(routes, `${NODE}/console/ws`),
    ...Object.entries(differences(parts, images)).map(([spelling, difference]) =>
      inDialect(routes, spelling, difference),
    ),
  ];
}
