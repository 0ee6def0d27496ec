// Links and their captures: the bodies and the routes.
import * as v from 'valibot';
import { CAPTURE_EXTENSIONS } from '../captures.ts';
import { PRESETS } from '../impairment-presets.ts';
import { DirectionChange, MOST_STEPS, ScheduleRounds, StepTimes } from '../impairments.ts';
import { type LinkObject, LinkStatistics } from '../objects.ts';
import { TopologyLink } from '../topology.ts';
import { AnyObject, Integer, named, Timestamp, Uuid } from '../vocabulary.ts';
import { answers, LAST_QUERY, type RouteDefinitions } from './definition.ts';

/** A request: a preset, changes to it in both directions, and changes in each. */
const PRESET = {
  preset: v.optional(v.picklist(PRESETS.map(({ name }) => name))),
  /** Index in `nodes` of the preset's subscriber. */
  subscriber: v.optional(v.picklist([0, 1])),
};

export const LinkImpairmentsBody = v.strictObject({
  ...PRESET,
  both: v.optional(DirectionChange),
  forward: v.optional(DirectionChange),
  backward: v.optional(DirectionChange),
});
export type LinkImpairmentsBody = v.InferOutput<typeof LinkImpairmentsBody>;

/** Steps that change the link's impairments for a while, or until the end of the round. */
export const LinkSchedule = v.strictObject({
  steps: v.pipe(
    v.array(v.strictObject({ ...StepTimes, ...LinkImpairmentsBody.entries })),
    v.minLength(1),
    v.maxLength(MOST_STEPS),
  ),
  ...ScheduleRounds,
});
export type LinkSchedule = v.InferOutput<typeof LinkSchedule>;

/** Values in a link's style: clients know three, and a file with too many is not read again. */
const MOST_STYLE_VALUES = 100;

function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, each) => sum + 1 + valuesIn(each), 0);
}

/** Creation and update accept the members of a link in a topology file; read-only ones are ignored. */
export const LinkBody = v.strictObject({
  ...TopologyLink.entries,
  link_style: v.optional(
    v.pipe(
      AnyObject,
      v.check((style) => valuesIn(style) <= MOST_STYLE_VALUES, `an object of at most ${MOST_STYLE_VALUES} values`),
    ),
  ),
  /** An extension; null removes them, as does an empty object. */
  impairments: v.optional(v.nullable(LinkImpairmentsBody)),
});
export type LinkBody = v.InferOutput<typeof LinkBody>;
export type LinkEndBody = NonNullable<LinkBody['nodes']>[number];

export const LinkCapture = v.strictObject({
  data_link_type: v.optional(
    v.picklist(['DLT_ATM_RFC1483', 'DLT_EN10MB', 'DLT_FRELAY', 'DLT_C_HDLC', 'DLT_PPP_SERIAL']),
    'DLT_EN10MB',
  ),
  capture_file_name: v.optional(v.string()),
  ...CAPTURE_EXTENSIONS,
});
export type LinkCapture = v.InferOutput<typeof LinkCapture>;

export const CaptureFileEntry = named('CaptureFile', {
  name: v.string(),
  /** Null while another host has the file. */
  bytes: v.nullable(Integer),
  /** ISO 8601; null as `bytes`. */
  modified: v.nullable(Timestamp),
  /** The captured link, if known: for captures since the lab was opened. */
  link_id: v.nullable(Uuid),
  /** Whether it is being written; for a ring, the file with the plain name. */
  running: v.boolean(),
  compute_id: v.string(),
});
export type CaptureFileEntry = v.InferOutput<typeof CaptureFileEntry>;

export const NumberParameter = v.object({
  name: v.string(),
  type: v.literal('int'),
  minimum: v.number(),
  maximum: v.number(),
  unit: v.string(),
});
export type NumberParameter = v.InferOutput<typeof NumberParameter>;

export const FilterDescription = named('Filter', {
  type: v.string(),
  name: v.string(),
  description: v.string(),
  parameters: v.array(v.variant('type', [NumberParameter, v.object({ name: v.string(), type: v.literal('text') })])),
});
export type FilterDescription = v.InferOutput<typeof FilterDescription>;

const Preset = named('Preset', {
  name: v.string(),
  description: v.string(),
  source: v.string(),
  down: v.looseObject({}),
  up: v.looseObject({}),
});

/** How far the schedule of a link or port is. */
export const Schedule = named('Schedule', { state: v.string() });

// biome-ignore format: a table
export const LINK_ROUTES = {
  'GET /v2/projects/{project_id}/links':
    { access: 'watch', privilege: 'Link.Audit', answer: answers<LinkObject[]>(), summary: 'List links of a project' },
  'POST /v2/projects/{project_id}/links':
    { access: 'change', privilege: 'Link.Allocate', body: LinkBody, status: 201, answer: answers<LinkObject>(),
      summary: 'Create a link' },
  'GET /v2/projects/{project_id}/links/{link_id}':
    { access: 'watch', privilege: 'Link.Audit', answer: answers<LinkObject>(), summary: 'Read a link' },
  'PUT /v2/projects/{project_id}/links/{link_id}':
    { access: 'change', privilege: 'Link.Modify', body: LinkBody, status: 201, answer: answers<LinkObject>(),
      summary: 'Update a link' },
  'DELETE /v2/projects/{project_id}/links/{link_id}':
    { access: 'change', privilege: 'Link.Allocate', status: 204, summary: 'Delete a link' },
  'GET /v2/projects/{project_id}/links/{link_id}/available_filters':
    { access: 'watch', privilege: 'Link.Audit', answer: answers(v.pipe(v.array(FilterDescription), v.readonly())),
      summary: 'List filters available for the link' },
  'POST /v2/projects/{project_id}/links/{link_id}/start_capture':
    { access: 'change', privilege: 'Link.Capture', entryPath: '/projects/{project_id}/links/{link_id}/capture/start',
      body: LinkCapture, status: 201, answer: answers<LinkObject>(), summary: 'Start capture on the link' },
  'POST /v2/projects/{project_id}/links/{link_id}/stop_capture':
    { access: 'change', privilege: 'Link.Capture', entryPath: '/projects/{project_id}/links/{link_id}/capture/stop',
      status: 201, answer: answers<LinkObject>(), summary: 'Stop capture on the link' },
  'POST /v2/projects/{project_id}/links/{link_id}/reset':
    { access: 'change', privilege: 'Link.Modify', answer: answers<LinkObject>(),
      summary: 'Wire both ends of a link again (an extension)', errors: [409] },
  'GET /v2/projects/{project_id}/links/{link_id}/iface':
    { access: 'watch', privilege: 'Link.Audit', answer: answers<object>(v.object({ node_id: Uuid, type: v.string() })),
      summary: 'The interface or UDP tunnel of a cloud or NAT that the link leads to (an extension)', errors: [409] },
  'GET /v2/impairments/presets':
    { access: 'read', answer: answers<readonly object[]>(v.array(Preset)), summary: 'List presets of impairments (an extension)' },
  'GET /v2/projects/{project_id}/links/{link_id}/statistics':
    { access: 'watch', privilege: 'Link.Audit', answer: answers<object>(LinkStatistics),
      summary: 'What was seen of the link, by direction (an extension)', errors: [409] },
  'POST /v2/projects/{project_id}/links/{link_id}/statistics/reset':
    { access: 'change', privilege: 'Link.Modify', status: 204,
      summary: 'Start counting what passes the link from zero (an extension)' },
  'GET /v2/projects/{project_id}/links/{link_id}/schedule':
    { access: 'watch', privilege: 'Link.Audit', answer: answers<object>(Schedule),
      summary: 'State of the schedule of impairments (an extension)', errors: [409] },
  'POST /v2/projects/{project_id}/links/{link_id}/schedule':
    { access: 'change', privilege: 'Link.Modify', body: LinkSchedule, status: 201, answer: answers<object>(Schedule),
      summary: 'Start a schedule of impairments (an extension)' },
  'DELETE /v2/projects/{project_id}/links/{link_id}/schedule':
    { access: 'change', privilege: 'Link.Modify', status: 204,
      summary: 'Cancel the schedule of impairments (an extension)' },
  'GET /v2/projects/{project_id}/links/{link_id}/pcap':
    { access: 'watch', privilege: 'Link.Capture', entryPath: '/projects/{project_id}/links/{link_id}/capture/stream',
      summary: 'Fetch the capture of the link', errors: [409], query: LAST_QUERY,
      answerType: 'application/vnd.tcpdump.pcap' },
  'GET /v2/projects/{project_id}/links/{link_id}/pcap/ws':
    { access: 'watch', privilege: 'Link.Capture', entryPath: '/projects/{project_id}/links/{link_id}/capture/stream',
      socket: true, summary: 'The capture of the link as binary messages, and its figures as text (an extension)',
      errors: [409], query: LAST_QUERY },
  'GET /v2/projects/{project_id}/links/statistics/ws':
    { access: 'watch', privilege: 'Link.Audit', socket: true,
      summary: 'Counters of all links, and then of those that changed (an extension)', errors: [403],
      query: { interval: 'Milliseconds between two messages, 200 to 60,000; 1,000 by default' } },
  'GET /v2/projects/{project_id}/captures':
    { access: 'watch', privilege: 'Link.Capture', answer: answers(v.array(CaptureFileEntry)),
      summary: 'List capture files of a project (an extension)' },
  'GET /v2/projects/{project_id}/captures/{name}':
    { access: 'watch', privilege: 'Link.Capture', raw: true,
      summary: 'A capture file of a project, from the host that writes it (an extension)', errors: [409] },
  'GET /v2/projects/{project_id}/merged-captures':
    { access: 'watch', privilege: 'Link.Capture', raw: true,
      summary: 'The captures of a project as one file of pcapng, by time (an extension)', errors: [404, 409],
      query: { links: 'Only those of these links: identifiers with commas between them' } },
} as const satisfies RouteDefinitions;
