// /v2/compute/{node_type}/images: lists, uploads and downloads images of a kind of node (as in release 2.2.57); beyond
// the release, also deletes them and uploads them in pieces.

import { posix } from 'node:path';
import * as v from 'valibot';
import { IMAGE_KINDS, type ImageKind } from '../../api/kinds/kinds.ts';
import { COMPUTE_IMAGE_ROUTES } from '../../api/routes/compute-images.ts';
import { Uuid } from '../../api/vocabulary.ts';
import type { Operations } from '../../events/operations.ts';
import { conflict, Failure, invalid } from '../../failures.ts';
import { counted } from '../../host/values/progress.ts';
import { downloadFile, uploadFile } from '../../http/app/files.ts';
import { operationId } from '../../http/app/operation-id.ts';
import { type Route, routesOf } from '../../http/app/route.ts';
import type { Images } from './images.ts';
import { Uploads } from './uploads.ts';

export interface ImageRouteParts {
  images: Images;
  operations: Operations;
  /** The node that uses the image of this name, in words; undefined if no node of this compute does. */
  user: (kind: ImageKind, filename: string) => string | undefined;
}

export function imageRoutes({ images, operations, user }: ImageRouteParts): Route[] {
  const uploads = new Uploads(images, operations);
  return IMAGE_KINDS.flatMap((kind) => {
    const { route } = routesOf(COMPUTE_IMAGE_ROUTES, { emulator: kind.type });
    return [
      route('GET /v2/compute/{emulator}/images', ({ query }) =>
        images.list(kind, { unlisted: query['unlisted'] === 'yes' }),
      ),

      route('POST /v2/compute/{emulator}/images/{filename:.+}', async ({ params, headers, stream, signal }) => {
        const { root, path, options } = await images.incoming(kind, params.filename);
        const wanted = { kind: 'upload', name: posix.basename(path), id: operationId(headers) };
        await operations.run(wanted, async (operation) => {
          const length = Number(headers.get('content-length') ?? 0);
          if (length > 0) operation.expect(length, 'bytes');
          const content = stream && counted(stream, operation);
          await uploadFile(root, path, { content, signal, ...options });
        });
      }),

      route('DELETE /v2/compute/{emulator}/images/{filename:.+}', async ({ params: { filename } }) => {
        const by = user(kind, filename);
        if (by !== undefined) throw conflict(`filename: ${filename} is used by ${by}.`);
        await images.remove(kind, filename);
      }),

      route('PUT /v2/compute/{emulator}/uploads/{upload_id}', ({ params: { upload_id: id }, body }) => {
        if (!v.is(Uuid, id)) throw invalid(`upload_id: "${id}" is not a UUID.`);
        return uploads.announce(kind, id, body);
      }),

      route('GET /v2/compute/{emulator}/uploads/{upload_id}', ({ params }) => uploads.get(params.upload_id).json()),

      route('POST /v2/compute/{emulator}/uploads/{upload_id}/{offset:\\d+}', ({ params, stream }) =>
        uploads.get(params.upload_id).append(Number(params.offset), stream),
      ),

      route('DELETE /v2/compute/{emulator}/uploads/{upload_id}', ({ params }) => uploads.remove(params.upload_id)),

      route('GET /v2/compute/{emulator}/images/{filename:.+}', async ({ params, headers }) => {
        const place = await images.find(kind, params.filename);
        if (place === undefined) throw missing(kind, params.filename);
        return downloadFile(place.root, place.path, headers);
      }),
    ];
  });
}

/** The release answers 409 for most kinds. */
function missing({ type, missing: code = 'image-missing' }: ImageKind, name: string): Failure {
  const message = `filename: this compute has no ${type} image ${name}; upload it with POST to this address.`;
  return new Failure(code, message, { image: name });
}
