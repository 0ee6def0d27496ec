// Images of a compute: the bodies and the routes, for each kind of node with images (`{emulator}`).
import * as v from 'valibot';
import { Integer, named, Text } from '../vocabulary.ts';
import { answers, type RouteDefinitions } from './definition.ts';

export const UploadAnnounced = v.strictObject({
  filename: Text,
  filesize: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  md5sum: v.optional(v.nullable(v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/i, 'an MD5 of 32 hexadecimal digits')))),
});

export type UploadAnnounced = v.InferOutput<typeof UploadAnnounced>;

/** What clients see. */
export const UploadObject = named('Upload', {
  upload_id: v.string(),
  filename: v.string(),
  /** Bytes of the whole image. */
  filesize: Integer,
  /** Bytes received: the next piece starts here. */
  offset: Integer,
  /** Of the whole image, once it is in place; null until then. */
  md5sum: v.nullable(v.string()),
});
export type UploadObject = v.InferOutput<typeof UploadObject>;

// biome-ignore format: a table
export const COMPUTE_IMAGE_ROUTES = {
  'GET /v2/compute/{emulator}/images':
    { answer: answers<object[]>(), summary: 'List images of an emulator',
      query: { unlisted: 'yes: also files that nodes can use and clients do not see in the list, such as kernels (an extension)' } },
  'POST /v2/compute/{emulator}/images/{filename:.+}':
    { raw: true, status: 204, summary: 'Upload an image', errors: [408, 507] },
  'GET /v2/compute/{emulator}/images/{filename:.+}': { raw: true, summary: 'Download an image', errors: [409] },
  'DELETE /v2/compute/{emulator}/images/{filename:.+}':
    { raw: true, status: 204, summary: 'Delete an image that no node of this compute uses (an extension)',
      errors: [403, 404, 409] },
  'PUT /v2/compute/{emulator}/uploads/{upload_id}':
    { body: UploadAnnounced, status: 201, answer: answers(UploadObject),
      summary: 'Begin the upload of an image in pieces (an extension)', errors: [403, 409, 503, 507] },
  'GET /v2/compute/{emulator}/uploads/{upload_id}':
    { answer: answers(UploadObject), summary: 'How much of an upload is here (an extension)' },
  'POST /v2/compute/{emulator}/uploads/{upload_id}/{offset:\\d+}':
    { raw: true, status: 201, answer: answers(UploadObject),
      summary: 'Send a piece of an image, from a byte on (an extension)', errors: [408, 409, 507],
      answerType: 'application/json' },
  'DELETE /v2/compute/{emulator}/uploads/{upload_id}':
    { status: 204, summary: 'Cancel the upload of an image (an extension)' },
} as const satisfies RouteDefinitions;
