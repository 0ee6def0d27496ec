// /v2/compute/{node_type}/images: images of a kind of node, listed, uploaded and downloaded (as in release 2.2.57).
import { Failure } from '../../failures.ts';
import { downloadFile, uploadFile } from '../../http/files.ts';
import { type Route, route } from '../../http/route.ts';
import { IMAGE_KINDS, type ImageKind } from '../../store/node-kinds/kinds.ts';
import type { Images } from './images.ts';

export function imageRoutes(images: Images): Route[] {
  return IMAGE_KINDS.flatMap((kind) => {
    const collection = `/v2/compute/${kind.type}/images` as const;
    const image = `${collection}/{filename:.+}` as const;
    return [
      route(`GET ${collection}`, {}, () => images.list(kind)),

      route(`POST ${image}`, { raw: true, status: 204 }, async ({ params, stream, signal }) => {
        const { root, path, options } = await images.incoming(kind, params.filename);
        await uploadFile(root, path, { content: stream, signal, ...options });
        return undefined;
      }),

      route(`GET ${image}`, { raw: true }, async ({ params }) => {
        const place = await images.find(kind, params.filename);
        if (place === undefined) throw missing(kind, params.filename);
        return downloadFile(place.root, place.path);
      }),
    ];
  });
}

/** The release answers 409 for most kinds. */
function missing({ type, missing: code = 'image-missing' }: ImageKind, name: string): Failure {
  const message = `filename: this compute has no ${type} image ${name}; upload it with POST to this address.`;
  return new Failure(code, message, { image: name });
}
