// Computes, and requests passed on to them: the bodies and the routes.
import * as v from 'valibot';
import { ComputeObject, type ImageObject, PortsObject } from '../objects.ts';
import { Integer } from '../vocabulary.ts';
import { answers, type RouteDefinitions } from './definition.ts';

const MEMBERS = {
  compute_id: v.optional(v.string()),
  name: v.optional(v.string()),
  protocol: v.picklist(['http', 'https']),
  host: v.string(),
  port: Integer,
  user: v.optional(v.nullable(v.string())),
  password: v.optional(v.nullable(v.string())),
};

export const ComputeCreate = v.strictObject(MEMBERS);
export type ComputeCreate = v.InferOutput<typeof ComputeCreate>;

/** `compute_id` is accepted and ignored. */
export const ComputeUpdate = v.partial(ComputeCreate);
export type ComputeUpdate = v.InferOutput<typeof ComputeUpdate>;

/** The router for a search of idle-PC values; `ram` in MiB. */
export const IdlePcSearch = v.object({ platform: v.string(), image: v.string(), ram: Integer });
export type IdlePcSearch = v.InferOutput<typeof IdlePcSearch>;

/** A registered compute as stored. */
export const StoredCompute = v.object({
  ...MEMBERS,
  compute_id: v.string(),
  name: v.string(),
  user: v.nullable(v.string()),
  password: v.nullable(v.string()),
});
export type StoredCompute = v.InferOutput<typeof StoredCompute>;

// biome-ignore format: a table
export const COMPUTE_ROUTES = {
  'POST /v2/computes':
    { privilege: 'Compute.Allocate', body: ComputeCreate, settings: true, status: 201, answer: answers(ComputeObject),
      summary: 'Create a compute' },
  'GET /v2/computes': { access: 'read', answer: answers(v.array(ComputeObject)), summary: 'List computes' },
  'GET /v2/computes/{compute_id}': { access: 'read', answer: answers(ComputeObject), summary: 'Read a compute' },
  'PUT /v2/computes/{compute_id}':
    { privilege: 'Compute.Modify', body: ComputeUpdate, settings: true, answer: answers(ComputeObject), summary: 'Update a compute' },
  'DELETE /v2/computes/{compute_id}':
    { privilege: 'Compute.Allocate', status: 204, summary: 'Delete a compute',
      query: { forget: 'yes: also a host of the cluster, which it leaves for good (an extension; admins)' },
      errors: [403, 409] },
  'GET /v2/computes/{compute_id}/ports':
    { answer: answers<object>(PortsObject), summary: 'List ports of a compute', errors: [408, 409] },
  'POST /v2/computes/{compute_id}/auto_idlepc':
    { body: IdlePcSearch, answer: answers<object>(), summary: 'Automatic idle-value search on a compute',
      errors: [408] },
  'GET /v2/computes/endpoint/{compute_id}/{emulator}/{action:.+}':
    { access: 'read', raw: true, answer: answers(v.object({ endpoint: v.string() })),
      summary: 'Endpoint call on a compute for an emulator', answerType: 'application/json' },
  'GET /v2/computes/{compute_id}/images':
    { access: 'read', privilege: 'Image.Audit', entryPath: '/images', answer: answers<ImageObject[]>(),
      summary: 'List images of a compute with what uses them (an extension)', errors: [409] },
  'DELETE /v2/computes/{compute_id}/{emulator}/images/{filename:.+}':
    { privilege: 'Image.Allocate', entryPath: '/images/{filename}', raw: true, status: 204,
      summary: 'Delete an image that nothing uses (an extension)', errors: [403, 409] },
  'DELETE /v2/computes/{compute_id}/{emulator}/uploads/{upload_id}':
    { status: 204, summary: 'Cancel the upload of an image (an extension)', errors: [409] },
  'GET /v2/computes/{compute_id}/{emulator}/images':
    { access: 'read', privilege: 'Image.Audit', entryPath: '/images', answer: answers<object>(),
      summary: 'List images of an emulator on a compute', errors: [408, 409] },
  'GET /v2/computes/{compute_id}/{emulator}/images/{filename:.+}':
    { raw: true, summary: 'Download an image of a compute, or with Range a part of it (an extension)',
      errors: [404, 408, 409] },
  'GET /v2/computes/{compute_id}/{emulator}/{action:.+}':
    { access: 'pass', answer: answers<object>(), summary: 'Forwarded call', errors: [400, 408, 409, 503] },
  'POST /v2/computes/{compute_id}/{emulator}/{action:.+}':
    { raw: true, answer: answers<object>(), summary: 'Forwarded call', errors: [400, 408, 503, 507],
      answerType: 'application/json' },
  'PUT /v2/computes/{compute_id}/{emulator}/{action:.+}':
    { raw: true, answer: answers<object>(), summary: 'Forwarded call', errors: [400, 408, 503, 507],
      answerType: 'application/json' },
} as const satisfies RouteDefinitions;
