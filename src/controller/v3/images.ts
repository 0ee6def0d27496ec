// Images of release 3.0.6: those of this host's emulators in one list, uploaded by their content's type.
import { stat } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { IMAGE_KINDS } from '../../api/kinds/kinds.ts';
import { NewDisk } from '../../api/kinds/qemu.ts';
import type { ImageObject } from '../../api/objects.ts';
import { V3_ROUTES } from '../../api/routes/v3.ts';
import { conflict, forbidden, ignoreMissing, invalid, notFound } from '../../failures.ts';
import { log } from '../../host/log.ts';
import type { HttpRoute, RouteRequest } from '../../http/app/route.ts';
import { readObject, v3RoutesOf, WrongRequest } from '../../http/v3/form.ts';
import { truthOf } from '../../http/v3/lenient.ts';
import type { Sharing } from '../accounts/sharing.ts';
import { mustBeList, refusalOf } from '../computes/answers.ts';
import type { Compute } from '../computes/compute.ts';
import { PASSED_ON_LIMIT_MS } from '../computes/limits.ts';
import { type ImageUsers, type ImageUses, imagesIn, type Sees } from '../projects/image-users.ts';
import { diskV2, timeV3 } from './objects.ts';

const { route } = v3RoutesOf(V3_ROUTES);

/** The names of the types, by emulator. */
const TYPES = { qemu: 'qemu', dynamips: 'ios', iou: 'iou' } as const;
type Emulator = keyof typeof TYPES;

/** Folders of images below `images_path`, by emulator. */
const FOLDERS = Object.fromEntries(IMAGE_KINDS.map(({ type, folder }) => [type, folder])) as Record<Emulator, string>;

/** Bytes from which the type is recognized. */
const HEAD_BYTES = 7;
const ELF = [0x7f, 0x45, 0x4c, 0x46];

export interface ImageParts {
  /** The host's own compute. */
  local: () => Compute;
  imageUsers: ImageUsers;
  sharing: Sharing;
  imagesPath: string;
}

interface StoredImage extends Pick<ImageObject, 'filename' | 'path' | 'md5sum' | 'filesize'> {
  emulator: Emulator;
}

const isEmulator = (name: string): name is Emulator => Object.hasOwn(TYPES, name);

export class Images {
  readonly #parts: ImageParts;

  constructor(parts: ImageParts) {
    this.#parts = parts;
  }

  async list(): Promise<StoredImage[]> {
    const compute = this.#parts.local();
    const lists = await Promise.all(
      IMAGE_KINDS.map(({ type }) => type)
        .filter(isEmulator)
        .map(async (emulator) => {
          const path = `/${emulator}/images`;
          const list = mustBeList(await compute.get(path, { limit: PASSED_ON_LIMIT_MS }), `GET ${path}`);
          return list.map((image) => ({ ...(image as unknown as Omit<StoredImage, 'emulator'>), emulator }));
        }),
    );
    return lists.flat();
  }

  /** @throws Failure `not-found` if a template names a missing image */
  async requireAll(template: Record<string, unknown>): Promise<void> {
    const type = String(template['template_type']);
    if (!isEmulator(type) || (template['compute_id'] ?? 'local') !== 'local') return;
    const known = new Set((await this.list()).map(({ emulator, filename }) => `${emulator}/${filename}`));
    const missing = [...imagesIn(type, template)].find((image) => !known.has(image));
    if (missing !== undefined)
      throw notFound(`There is no image ${posix.basename(missing)} of type ${TYPES[type]}: upload it first.`);
  }

  async json({ emulator, filename, path, md5sum, filesize }: StoredImage): Promise<object> {
    const absolute = this.#pathOf({ emulator, path });
    const found = await stat(absolute).catch(ignoreMissing);
    const [created, updated] = [found?.birthtime ?? new Date(0), found?.mtime ?? new Date(0)];
    return {
      filename,
      path: absolute,
      image_type: TYPES[emulator],
      image_size: filesize,
      checksum: md5sum,
      checksum_algorithm: 'md5',
      created_at: timeV3(created),
      updated_at: timeV3(updated),
    };
  }

  /** By file name or absolute path. @throws Failure `not-found` */
  async find(name: string): Promise<StoredImage[]> {
    const absolute = name.startsWith('/') ? name : `/${name}`;
    const found = (await this.list()).filter(
      (image) => image.filename === name || image.path === name || this.#pathOf(image) === absolute,
    );
    if (found.length === 0) throw notFound(`path: there is no image ${name}.`);
    return found;
  }

  async upload(path: string, stream: ReadableStream<Uint8Array> | null, signal: AbortSignal): Promise<object> {
    if (path.split('/').includes('..') || path.startsWith('/'))
      throw forbidden('path: images are kept in the folders of the emulators; give a file name.');
    const { head, whole } = await peeked(stream);
    if (head.length < HEAD_BYTES) throw conflict('The file has fewer than 7 bytes: it is no image.');
    const [folder = ''] = path.includes('/') ? path.split('/') : [];
    const named = IMAGE_KINDS.map(({ type }) => type).find(
      (type) => FOLDERS[type as Emulator] === folder.toUpperCase(),
    );
    const emulator = named ?? emulatorOf(head);
    const name = posix.basename(path);
    const target = `/${emulator}/images/${encodeURIComponent(name)}`;
    const compute = this.#parts.local();
    const answer = await compute.pass('POST', target, { body: whole, signal, limit: PASSED_ON_LIMIT_MS });
    if (answer.status >= 300) throw refusalOf(answer.status, await answer.text(), `POST ${target}`);
    await answer.body?.cancel();
    const [image] = (await this.find(name)).filter((one) => one.emulator === emulator);
    return this.json(image!);
  }

  async delete(name: string, sees: Sees): Promise<void> {
    const found = await this.find(name);
    const [image, another] = found;
    if (another !== undefined) throw new WrongRequest(`path: there are several images ${name}; give the whole path.`);
    (await this.#uses()).requireUnused('path', image!.emulator, image!.filename, sees);
    await this.#remove(image!);
  }

  /**
   * Deletes all that nothing uses. While a lab cannot be read, that is known of no image.
   * @param of only those that this deleted template names
   */
  async prune(of?: Record<string, unknown>): Promise<void> {
    const named = of && imagesIn(String(of['template_type']), of);
    const uses = await this.#uses();
    if (uses.unknown.length > 0) {
      log.warn('no image is pruned, because labs cannot be read', { labs: uses.unread(() => true) });
      return;
    }
    for (const image of await this.list())
      if (
        uses.of(image.emulator, image.filename).length === 0 &&
        named?.has(`${image.emulator}/${image.filename}`) !== false
      )
        await this.#remove(image);
  }

  #uses(): Promise<ImageUses> {
    return this.#parts.imageUsers.of(this.#parts.local().id);
  }

  #pathOf({ emulator, path }: Pick<StoredImage, 'emulator' | 'path'>): string {
    return path.startsWith('/') ? path : join(this.#parts.imagesPath, FOLDERS[emulator], path);
  }

  #remove({ emulator, path }: StoredImage): Promise<unknown> {
    return this.#parts.local().delete(`/${emulator}/images/${path.split('/').map(encodeURIComponent).join('/')}`);
  }
}

function emulatorOf(head: Uint8Array): Emulator {
  const isElf = ELF.every((byte, at) => head[at] === byte);
  if (isElf && head[4] === 1 && head[5] === 2) return 'dynamips';
  return isElf && head[5] === 1 ? 'iou' : 'qemu';
}

/** The first bytes of a stream, and all of it. */
async function peeked(stream: ReadableStream<Uint8Array> | null) {
  const chunks: Uint8Array[] = [];
  const reader = stream?.getReader();
  let size = 0;
  let isDone = reader === undefined;
  while (!isDone && size < HEAD_BYTES) {
    const { done, value } = await reader!.read();
    isDone = done;
    if (value === undefined) continue;
    chunks.push(value);
    size += value.length;
  }
  const whole = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
    },
    async pull(controller) {
      const { done, value } = isDone ? { done: true, value: undefined } : await reader!.read();
      if (value !== undefined) controller.enqueue(value);
      if (done) controller.close();
    },
    cancel: (reason) => reader?.cancel(reason),
  });
  return { head: new Uint8Array(Buffer.concat(chunks).subarray(0, HEAD_BYTES)), whole };
}

/** @param install makes templates of appliances whose images are complete */
export function imageRoutes(
  images: Images,
  parts: ImageParts,
  install: (request: RouteRequest, image?: string) => Promise<void>,
): HttpRoute[] {
  const json = async (list: StoredImage[]): Promise<object[]> => Promise.all(list.map((image) => images.json(image)));
  return [
    route('GET /v3/images', async ({ query: { image_type: type } }) => {
      if (type !== undefined && !Object.values<string>(TYPES).includes(type))
        throw invalid('image_type: expected qemu, ios or iou.');
      const list = await images.list();
      return json(list.filter(({ emulator }) => type === undefined || TYPES[emulator] === type));
    }),
    route('POST /v3/images/install', async (request) => {
      await install(request);
      return undefined;
    }),
    route('DELETE /v3/images/prune', async () => {
      await images.prune();
      return undefined;
    }),
    route(
      'POST /v3/images/qemu/{path:.+}',
      async ({ params: { path }, body }) => {
        if (path.split('/').includes('..')) throw forbidden('path: give a file name.');
        const name = posix.basename(path);
        if ((await images.list()).some(({ emulator, filename }) => emulator === 'qemu' && filename === name))
          throw new WrongRequest(`path: there is an image ${name} already.`);
        await parts.local().post('/qemu/img', { body: { ...body, qemu_img: 'qemu-img', path: name } });
        return images.json((await images.find(name))[0]!);
      },
      { conflict: 400, read: async (request) => diskV2(NewDisk)(await readObject(request)) },
    ),
    route('POST /v3/images/upload/{path:.+}', async (request) => {
      const made = await images.upload(request.params.path, request.stream, request.signal);
      if (truthOf(request.query['install_appliances'] ?? '') === true)
        await install(request, posix.basename(request.params.path));
      return made;
    }),
    route('GET /v3/images/{path:.+}', async ({ params }) => images.json((await images.find(params.path))[0]!)),
    route('DELETE /v3/images/{path:.+}', async ({ params, client: { identity } }) => {
      await images.delete(params.path, (of) => parts.sharing.tells(identity, of));
      return undefined;
    }),
  ];
}
