// /v2/compute/{node_type}/images: lists, uploads and downloads images of a kind of node (as in release 2.2.57); beyond
// the release, also deletes them and uploads them in pieces.

import { posix } from 'node:path';
import * as v from 'valibot';
import { IMAGE_KINDS, type ImageKind } from '../../api/kinds/kinds.ts';
import { Uuid } from '../../api/vocabulary.ts';
import type { Operations } from '../../events/operations.ts';
import { Failure } from '../../failures.ts';
import { counted } from '../../host/values/progress.ts';
import { downloadFile, uploadFile } from '../../http/app/files.ts';
import { operationId } from '../../http/app/operation-id.ts';
import { type Route, route } from '../../http/app/route.ts';
import type { Images } from './images.ts';
import { UploadAnnounced, Uploads } from './uploads.ts';

export interface ImageRouteParts {
  images: Images;
  operations: Operations;
  /** The node that uses the image of this name, in words; undefined if no node of this compute does. */
  user: (kind: ImageKind, filename: string) => string | undefined;
}

export function imageRoutes({ images, operations, user }: ImageRouteParts): Route[] {
  const uploads = new Uploads(images, operations);
  return IMAGE_KINDS.flatMap((kind) => {
    const collection = `/v2/compute/${kind.type}/images` as const;
    const image = `${collection}/{filename:.+}` as const;
    const upload = `/v2/compute/${kind.type}/uploads/{upload_id}` as const;
    return [
      route(`GET ${collection}`, {}, () => images.list(kind)),

      route(`POST ${image}`, { raw: true, status: 204 }, async ({ params, headers, stream, signal }) => {
        const { root, path, options } = await images.incoming(kind, params.filename);
        const wanted = { kind: 'upload', name: posix.basename(path), id: operationId(headers) };
        await operations.run(wanted, async (operation) => {
          const length = Number(headers.get('content-length') ?? 0);
          if (length > 0) operation.expect(length, 'bytes');
          const content = stream && counted(stream, operation);
          await uploadFile(root, path, { content, signal, ...options });
        });
        return undefined;
      }),

      route(`DELETE ${image}`, { raw: true, status: 204 }, async ({ params: { filename } }) => {
        const by = user(kind, filename);
        if (by !== undefined) throw new Failure('conflict', `filename: ${filename} is used by ${by}.`);
        await images.remove(kind, filename);
        return undefined;
      }),

      route(`PUT ${upload}`, { body: UploadAnnounced, status: 201 }, ({ params: { upload_id: id }, body }) => {
        if (!v.is(Uuid, id)) throw new Failure('invalid', `upload_id: "${id}" is not a UUID.`);
        return uploads.announce(kind, id, body);
      }),

      route(`GET ${upload}`, {}, ({ params }) => uploads.get(params.upload_id).json()),

      route(`POST ${upload}/{offset:\\d+}`, { raw: true, status: 201 }, ({ params, stream }) =>
        uploads.get(params.upload_id).append(Number(params.offset), stream),
      ),

      route(`DELETE ${upload}`, { status: 204 }, async ({ params }) => {
        await uploads.remove(params.upload_id);
        return undefined;
      }),

      route(`GET ${image}`, { raw: true }, async ({ params, headers }) => {
        const place = await images.find(kind, params.filename);
        if (place === undefined) throw missing(kind, params.filename);
        return downloadFile(place.root, place.path, headers.get('range'));
      }),
    ];
  });
}

/** The release answers 409 for most kinds. */
function missing({ type, missing: code = 'image-missing' }: ImageKind, name: string): Failure {
  const message = `filename: this compute has no ${type} image ${name}; upload it with POST to this address.`;
  return new Failure(code, message, { image: name });
}
