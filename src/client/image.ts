// `labwired image`: disks and programs that nodes start from.
import { basename } from 'node:path';
import { IMAGE_KINDS } from '../store/node-kinds/kinds.ts';
import { type Noun, verb } from './command.ts';
import { inBytes } from './figures.ts';
import { fileBody } from './files.ts';
import type { ImageObject } from './objects.ts';
import type { Session } from './session.ts';
import { WrongUsage } from './wrong-usage.ts';

const COMPUTE = { compute: { value: 'ID', summary: 'the host that has them (local)' } } as const;
const TYPES = IMAGE_KINDS.map(({ type }) => type);

const pathOf = (compute = 'local'): string => `/v2/computes/${encodeURIComponent(compute)}`;

async function upload(
  session: Session,
  file: string,
  { type, name = basename(file), compute }: { type?: string; name?: string; compute?: string },
): Promise<void> {
  if (!TYPES.some((known) => known === type))
    throw new WrongUsage(`Say what it is an image for: --type ${TYPES.join('|')}`);
  const host = pathOf(compute);
  await session.api.get(host); // asks for the password, if there is one, before the file is sent
  using sent = await fileBody(session, file);
  await session.api.upload(`${host}/${type}/images/${encodeURIComponent(name)}`, sent.body);
  session.tell(`Image "${name}" is on the server.`, name);
}

export const image: Noun = {
  name: 'image',
  summary: 'disks and programs that nodes start from',
  verbs: [
    verb({
      name: 'list',
      words: [],
      summary: 'all images of a host',
      flags: COMPUTE,
      run: async (session, _words, { compute }) => {
        const images = await session.api.get<ImageObject[]>(`${pathOf(compute)}/images`);
        session.show(images, ({ filename }) => filename, [
          { heading: 'IMAGE', cell: ({ filename }) => filename },
          { heading: 'FOR', cell: ({ emulator }) => emulator },
          { heading: 'SIZE', cell: ({ filesize }) => inBytes(filesize) },
          { heading: 'USED BY', cell: ({ used_by: { length } }) => (length === 1 ? '1 node' : `${length} nodes`) },
        ]);
      },
    }),
    verb({
      name: 'upload',
      words: ['FILE'],
      summary: 'to a host; an image of the same name is replaced',
      flags: {
        type: { value: 'TYPE', summary: TYPES.join(', ') },
        name: { value: 'NAME', summary: "instead of the file's" },
        ...COMPUTE,
      },
      run: (session, [file], flags) => upload(session, file!, flags),
    }),
  ],
};
