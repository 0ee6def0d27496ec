// The images of a host: list with their users, upload, delete; and the appliances that they complete.

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { HEAD_BYTES, isProgram, isRouterProgram } from '../api/kinds/image-heads.ts';
import type { ImageObject, ImageUser } from '../api/objects.ts';
import { AUTO_ID } from '../api/placement.ts';
import type { Match } from '../api/routes/appliances.ts';
import { go } from './address.ts';
import { whyNot } from './model/account/permissions.ts';
import { bytesInWords } from './model/browser/byte-sizes.ts';
import { api } from './model/server/api.ts';
import { attempted } from './model/server/attempt.ts';
import { useLoaded } from './model/server/loaded.ts';
import { sentenceOf } from './model/server/sentence.ts';
import { Button } from './panels/button.tsx';
import { Choice } from './panels/choice.tsx';
import { Columns } from './panels/columns.tsx';
import { WindowedBodies } from './panels/long-list.tsx';
import { Message } from './panels/message.tsx';
import { PageHeader } from './panels/page-header.tsx';
import { Reading } from './panels/reading.tsx';
import { useFileDrop } from './shell/file-drop.tsx';
import { confirmRemoval } from './tasks/dialogs.tsx';
import { imagesSent, uploadImage } from './tasks/image-uploads.ts';
import { draftAddress } from './templates/draft-address.ts';
import { WORDS } from './words.ts';

const words = WORDS.images;

interface ComputeObject {
  compute_id: string;
  name: string;
}

/** Most users named. */
const MOST_USERS = 3;

/** The kind of node that an image is probably for, by its first bytes. */
function emulatorOf(head: Uint8Array): 'qemu' | 'iou' | 'dynamips' {
  if (!isProgram(head)) return 'qemu';
  return isRouterProgram(head) ? 'dynamips' : 'iou';
}

export function ImagesScreen() {
  const hosts = useLoaded(() => api.get<ComputeObject[]>('/computes'), []);
  const computes = hosts.value.value ?? [];
  const compute = useSignal('local');
  const emulator = useSignal('');
  /** The list of one host, whose images its buttons are for; undefined until that of the chosen host is read. */
  const listed = useSignal<{ host: string; images: readonly ImageObject[] } | undefined>(undefined);
  const matches = useSignal<readonly Match[]>([]);
  const message = useSignal('');
  /** Why the images could not be read. */
  const problem = useSignal('');
  const told = useSignal('');
  const reading = useRef(0);

  const read = async (): Promise<void> => {
    reading.current += 1;
    const mine = reading.current;
    const host = compute.value;
    const id = encodeURIComponent(host);
    if (listed.value?.host !== host) {
      listed.value = undefined;
      matches.value = [];
      problem.value = '';
    }
    try {
      const list = await api.get<ImageObject[]>(`/computes/${id}/images`);
      if (mine !== reading.current) return;
      listed.value = { host, images: list };
      problem.value = '';
    } catch (error) {
      if (mine === reading.current) problem.value = sentenceOf(error);
      return;
    }
    const found = await api.get<Match[]>(`/appliances/matches?compute_id=${id}`).catch(() => []);
    if (mine === reading.current) matches.value = found;
  };
  const attempt = (task: () => Promise<unknown>): Promise<boolean> => {
    told.value = '';
    return attempted(message, async () => {
      await task();
      await read();
    });
  };

  useEffect(() => void read(), [compute.value, imagesSent.value]);

  const upload = async (files: Iterable<File>): Promise<void> => {
    message.value = '';
    const unreadable: string[] = [];
    for (const file of files) {
      const head = await file
        .slice(0, HEAD_BYTES)
        .arrayBuffer()
        .catch(() => undefined);
      if (head) uploadImage(compute.value, emulator.value || emulatorOf(new Uint8Array(head)), file);
      else unreadable.push(file.name);
    }
    if (unreadable.length > 0) message.value = words.unreadable(unreadable.join(', '));
  };
  useFileDrop({
    words: words.dropHere,
    why: () => whyNot('administer'),
    refuse: (why) => {
      message.value = why;
    },
    take: (files) => void upload(files),
  });

  const host = listed.value?.host ?? compute.value;
  const images = listed.value?.images;
  const remove = async ({ emulator: kind, filename }: ImageObject): Promise<void> => {
    if (!(await confirmRemoval(filename, words.askRemove(filename)))) return;
    const path = `/computes/${encodeURIComponent(host)}/${kind}/images/${encodeURIComponent(filename)}`;
    void attempt(() => api.delete(path));
  };
  const makeTemplate = (match: Match): void =>
    void attempt(async () => {
      const body = { compute_id: host, ...(match.version !== null && { version: match.version }) };
      const { name } = await api.post<{ name: string }>(`/appliances/${match.appliance_id}/template`, body);
      told.value = words.made(name);
    });

  const why = whyNot('administer');
  const ofAll = host === AUTO_ID;
  const nameOf = (id: string): string => computes.find(({ compute_id }) => compute_id === id)?.name ?? id;
  return (
    <div class="screen images">
      <PageHeader title={words.title} />
      <main>
        <div class="tools">
          {computes.length > 1 && (
            <Choice
              label={words.compute}
              chosen={compute}
              choices={computes.map(({ compute_id: id, name }) => [id, name])}
            />
          )}
          <Choice
            label={words.emulator}
            all={words.byContent}
            chosen={emulator}
            choices={Object.entries(words.emulators)}
            hidden={why !== ''}
          />
          <label class="button main" hidden={why !== ''}>
            {words.upload}
            <input
              class="hidden"
              type="file"
              multiple
              onChange={({ currentTarget }) => {
                void upload([...(currentTarget.files ?? [])]);
                currentTarget.value = '';
              }}
            />
          </label>
        </div>
        {why !== '' && <p class="busy">{why}</p>}
        {why === '' && images?.length !== 0 && <p class="busy">{words.hint}</p>}
        <Message text={message.value} />
        <Message text={problem.value || hosts.problem.value} again={() => Promise.all([hosts.again(), read()])} />
        <p role="status">{told}</p>
        {images === undefined && problem.value === '' && <Reading />}
        {images?.length === 0 && (
          <div class="first">
            <p>{words.none}</p>
            <p>{words.hint}</p>
          </div>
        )}
        {Object.entries(words.emulators).map(([kind, name]) => {
          const own = images?.filter((image) => image.emulator === kind) ?? [];
          if (own.length === 0) return null;
          return (
            <section key={kind} aria-label={name}>
              <h2>{name}</h2>
              <table class="card rows" aria-rowcount={own.length + 1}>
                <Columns
                  counts
                  titles={[
                    WORDS.common.name,
                    words.size,
                    words.checksum,
                    ...(ofAll ? [words.on] : []),
                    words.usedBy,
                    words.appliance,
                    WORDS.common.actions,
                  ]}
                />
                <WindowedBodies
                  items={own}
                  keyOf={({ path }) => path}
                  height={44}
                  columns={ofAll ? 7 : 6}
                  row={(image, place) => (
                    <tr {...place}>
                      <th scope="row">{image.filename}</th>
                      <td data-title={words.size}>{bytesInWords(image.filesize)}</td>
                      <td data-title={words.checksum}>
                        <code>{image.md5sum}</code>
                      </td>
                      {ofAll && <td data-title={words.on}>{image.computes?.map(nameOf).join(', ')}</td>}
                      <td data-title={words.usedBy}>{usersInWords(image.used_by)}</td>
                      <td data-title={words.appliance}>
                        <Appliances image={image} matches={matches.value} make={makeTemplate} />
                      </td>
                      <td>
                        {why === '' && host === 'local' && (
                          <Button
                            aria-label={words.makeTemplateOf(image.filename)}
                            onClick={() => go(draftAddress({ type: kind, image: image.path }))}
                            text={words.makeTemplate}
                          />
                        )}{' '}
                        <Button
                          hidden={why !== ''}
                          disabled={image.used_by.length > 0}
                          aria-label={`${WORDS.common.remove} ${image.filename}`}
                          class="danger"
                          onClick={() => void remove(image)}
                          text={WORDS.common.remove}
                        />
                      </td>
                    </tr>
                  )}
                />
              </table>
            </section>
          );
        })}
      </main>
    </div>
  );
}

function usersInWords(users: readonly ImageUser[]): string {
  if (users.length === 0) return words.notUsed;
  const named = users
    .slice(0, MOST_USERS)
    .map(({ kind, name, project_name: lab = '' }) => words.users[kind](name, lab));
  return [...named, ...(users.length > MOST_USERS ? [words.more(users.length - MOST_USERS)] : [])].join(', ');
}

interface AppliancesProps {
  image: ImageObject;
  matches: readonly Match[];
  make: (match: Match) => void;
}

/** The appliances of an image: a button to create each complete one, otherwise its missing images. */
function Appliances({ image, matches, make }: AppliancesProps) {
  const own = matches.filter(
    ({ emulator, images }) =>
      emulator === image.emulator &&
      images.some(({ md5sum, path }) => path !== null && md5sum?.toLowerCase() === image.md5sum),
  );
  // Of incomplete versions only the newest is shown.
  const shown = own.some(({ complete }) => complete) ? own.filter(({ complete }) => complete) : own.slice(0, 1);
  return (
    <>
      {shown.map((match) => {
        const name = `${match.name} ${match.version ?? ''}`.trim();
        const missing = match.images.filter(({ path }) => path === null).map(({ filename }) => filename);
        return match.complete ? (
          <Button
            key={name}
            hidden={whyNot('administer') !== ''}
            onClick={() => make(match)}
            text={words.complete(name)}
          />
        ) : (
          <span key={name}>{words.partOf(name, missing.join(', '))}</span>
        );
      })}
    </>
  );
}
