// Appliances: the bodies and the routes.
import * as v from 'valibot';
import type { TemplateObject } from '../objects.ts';
import { Integer, named, Text } from '../vocabulary.ts';
import { answers, type RouteDefinitions } from './definition.ts';

/** Emulators of appliances, named as in the documents. */
export const EMULATORS = ['qemu', 'docker', 'dynamips', 'iou'] as const;

export type ApplianceEmulator = (typeof EMULATORS)[number];

export const TemplateOfAppliance = v.strictObject({
  version: v.optional(Text),
  compute_id: v.optional(Text, 'local'),
  name: v.optional(Text),
});

/** One file of a version, and its place on the compute. */
export const MatchedImage = named('MatchedImage', {
  /** The setting for it: `hda_disk_image`, `image`. */
  setting: v.string(),
  filename: v.string(),
  md5sum: v.nullable(v.string()),
  /** Bytes. */
  filesize: v.nullable(Integer),
  download_url: v.nullable(v.string()),
  /** As in a node's settings; null while it is missing. */
  path: v.nullable(v.string()),
});
export type MatchedImage = v.InferOutput<typeof MatchedImage>;

export const Match = named('ApplianceMatch', {
  appliance_id: v.string(),
  name: v.string(),
  /** Empty where the document names none. */
  vendor: v.string(),
  symbol: v.string(),
  category: v.string(),
  emulator: v.picklist(EMULATORS),
  builtin: v.boolean(),
  /** Null for containers: the image name contains it. */
  version: v.nullable(v.string()),
  /** Whether nothing is missing, so that a template can be made. */
  complete: v.boolean(),
  images: v.array(MatchedImage),
});
export type Match = v.InferOutput<typeof Match>;

// biome-ignore format: a table
export const APPLIANCE_ROUTES = {
  'GET /v2/appliances':
    { access: 'read', privilege: 'Appliance.Audit', answer: answers<object>(), summary: 'List appliances',
      errors: [404, 409],
      query: { update: 'yes: fetch the list again (refused)', symbol_theme: 'Theme that symbols are taken from' } },
  'GET /v2/appliances/matches':
    { access: 'read', privilege: 'Appliance.Audit', answer: answers(v.array(Match)),
      summary: 'List versions of appliances that the images of a compute are for', errors: [404, 409],
      query: { compute_id: 'Compute whose images are looked at; local by default', complete: 'yes: only those that miss nothing', all: 'yes: also those of which nothing is there' } },
  'POST /v2/appliances/{appliance_id}/template':
    { privilege: 'Appliance.Allocate', body: TemplateOfAppliance, status: 201, answer: answers<TemplateObject>(),
      summary: 'Create a template of an appliance', errors: [404, 409] },
} as const satisfies RouteDefinitions;
