// `labwired image`: disks and programs that nodes start from.
import { basename } from 'node:path';
import { IMAGE_KINDS } from '../../api/kinds/kinds.ts';
import type { ComputeObject, ImageObject } from '../../api/objects.ts';
import { AUTO_ID } from '../../api/placement.ts';
import { WrongUsage } from '../../commands/wrong-usage.ts';
import { Failure } from '../../failures.ts';
import { quoted } from '../../host/terminal/shell-word.ts';
import { suggestion } from '../../host/values/nearest-name.ts';
import { type Noun, verb } from '../frame/command.ts';
import type { Session } from '../frame/session.ts';
import { encodedName } from '../server/encoded-path.ts';
import { findNamed } from '../server/find.ts';
import { passImage, receiveImage } from '../server/image-download.ts';
import { sendImage } from '../server/image-upload.ts';
import { counted } from '../terminal/counted.ts';
import { inBytes } from '../terminal/figures.ts';
import { isStandardOutput, isStream, mustBeFree, REPLACES, replacedFile, save } from '../terminal/files.ts';

const COMPUTE = { compute: { value: 'ID', summary: 'the host of the images (local)' } } as const;
const OF_TYPE = { type: { value: 'TYPE', summary: 'the type, if several have an image of this name' } } as const;
const TYPES = IMAGE_KINDS.map(({ type }) => type);

const pathOf = (compute = 'local'): string => `/v2/computes/${encodedName(compute)}`;

/** @throws WrongUsage */
function typeOf(type: string | undefined): string {
  if (TYPES.some((known) => known === type)) return type!;
  throw new WrongUsage(
    type === undefined
      ? `The type of the image is missing: --type ${TYPES.join('|')}`
      : `--type "${type}": ${suggestion(type, TYPES)}`,
  );
}

async function upload(
  session: Session,
  file: string,
  { type: given, name = basename(file), compute }: { type?: string; name?: string; compute?: string },
): Promise<void> {
  const type = typeOf(given);
  const path = `${pathOf(compute)}/${type}`;
  await sendImage(session, file, { path, name });
  session.tell(`Image "${name}" is on the server.`, name);
  const listed = await session.api.get<{ filename: string }[]>(`${path}/images`);
  if (listed.some(({ filename }) => filename === name)) return;
  const why = name.includes('/')
    ? 'because it is in a folder'
    : `because it does not begin like an image of ${type}. Unpack an archive before the upload`;
  session.remark(`No list shows it, ${why}. To delete it: labwired image delete ${quoted(name)} --type ${type}`);
}

async function images(session: Session, compute: string | undefined): Promise<ImageObject[]> {
  return session.api.get(`${pathOf(compute)}/images`);
}

/** Of one host, or of all hosts with a column that says where each image is. */
async function list(session: Session, compute: string | undefined): Promise<void> {
  const hosts = compute === undefined ? await session.api.get<ComputeObject[]>('/v2/computes') : [];
  const all = hosts.some(({ compute_id: id }) => id === AUTO_ID);
  const nameOf = new Map(hosts.map(({ compute_id: id, name }) => [id, name]));
  session.show(await images(session, all ? AUTO_ID : compute), ({ filename }) => filename, [
    { heading: 'IMAGE', cell: ({ filename }) => filename },
    { heading: 'FOR', cell: ({ emulator }) => emulator },
    { heading: 'SIZE', cell: ({ filesize }) => inBytes(filesize) },
    ...(all
      ? [
          {
            heading: 'ON',
            cell: ({ computes = [] }: ImageObject) => computes.map((id) => nameOf.get(id) ?? id).join(', '),
          },
        ]
      : []),
    { heading: 'USED BY', cell: ({ used_by: { length } }) => counted(length, 'user') },
  ]);
}

/** The image of this name; where emulators have images of one name, `type` says which. @throws Failure */
async function imageNamed(
  session: Session,
  wanted: string,
  { type, compute }: { type?: string; compute?: string },
): Promise<ImageObject & { path: string }> {
  const known = type === undefined ? undefined : typeOf(type);
  const all = (await images(session, compute)).filter(({ emulator }) => known === undefined || emulator === known);
  const named = ({ filename, emulator }: ImageObject) => ({ id: `${emulator} ${filename}`, name: filename });
  const found = findNamed('image', all, named, wanted);
  const { filename, emulator } = found;
  return { ...found, path: `${pathOf(compute)}/${emulator}/images/${encodedName(filename)}` };
}

/** Deletes the image and returns its name; also one that is not listed, because it does not begin like an image. */
async function remove(session: Session, wanted: string, flags: { type?: string; compute?: string }): Promise<string> {
  try {
    const { filename, path } = await imageNamed(session, wanted, flags);
    await session.api.delete(path);
    return filename;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    for (const type of flags.type === undefined ? TYPES : [flags.type]) {
      try {
        await session.api.delete(`${pathOf(flags.compute)}/${type}/images/${encodedName(basename(wanted))}`);
        return wanted;
      } catch (refused) {
        if (!isNotFound(refused)) throw refused;
      }
    }
    throw error;
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof Failure && error.code === 'not-found';
}

export const image: Noun = {
  name: 'image',
  summary: 'disk images and programs of nodes',
  verbs: [
    verb({
      name: 'list',
      summary: 'lists images: of all hosts with the hosts that have them, or of one host',
      flags: { compute: { value: 'ID', summary: 'only this host' } },
      run: (session, _words, { compute }) => list(session, compute),
    }),
    verb({
      name: 'upload',
      words: ['FILE'],
      summary: 'sends an image to a host and replaces one with its name; continues interrupted uploads',
      flags: {
        type: { value: 'TYPE', summary: TYPES.join(', ') },
        name: { value: 'NAME', summary: "instead of the file's" },
        ...COMPUTE,
      },
      run: (session, [file], flags) => upload(session, file, flags),
    }),
    verb({
      name: 'download',
      words: ['NAME'],
      summary: 'copies an image of a host to a local file; continues interrupted downloads',
      flags: {
        to: { value: 'FILE', summary: 'instead of NAME; - is standard output' },
        force: REPLACES,
        ...OF_TYPE,
        ...COMPUTE,
      },
      run: async (session, [wanted], { to, force, ...flags }) => {
        const { filename, path, md5sum: md5, filesize: size } = await imageNamed(session, wanted, flags);
        const file = to ?? basename(filename);
        await mustBeFree(file, force === true);
        if (!md5) await save(session, await session.api.stream(path), file);
        else if (await isStream(file)) await passImage(session, { path, file, md5 });
        else await receiveImage(session, { path, file: await replacedFile(file), md5, size });
        if (!isStandardOutput(file)) session.tell(`Image "${filename}" is in ${file}`, file, { file });
      },
    }),
    verb({
      name: 'delete',
      words: ['NAME...'],
      summary: 'deletes unused images permanently',
      flags: { ...OF_TYPE, ...COMPUTE },
      run: async (session, wanted, flags) => {
        for (const name of wanted) {
          const filename = await remove(session, name, flags);
          session.tell(`Image "${filename}" deleted.`, filename);
        }
      },
    }),
  ],
};
