// Copies of what a container has written outside its volumes, for another host: an archive of the changed files in parts, and the paths of
// deleted ones.
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import {
  DISK_CHECKPOINT,
  LARGEST_DISKS_BYTES,
  LayerManifest,
  MOST_CHUNKS,
  RESTORED_DISKS,
} from '../../../api/disk-checkpoint.ts';
import { messageOf } from '../../../failures.ts';
import { writeFileAtomically } from '../../../host/files/atomic-file.ts';
import { isBelow } from '../../../host/files/relative-path.ts';
import { CHUNK_BYTES, CheckpointParts, DamagedCopy, TooMuch } from '../../nodes/checkpoint-parts.ts';
import { type Engine, refusal } from './engine.ts';
import { tarEntries } from './tar-entries.ts';
import { NETWORK } from './volumes.ts';

const BUSYBOX = '/gns3/bin/busybox';
/** Changed files of a container: their paths are the arguments of a program. */
const MOST_PATHS = 4_096;
const MOST_PATH_CHARACTERS = 512 * 1024;
/** Each path, and some 100 characters on each. */
const MOST_STATE_CHARACTERS = 2 * MOST_PATH_CHARACTERS;
const STATE_TOO_LONG = `The container says more of its files than it has: something is mounted at ${BUSYBOX}.`;
/** Made by every container for itself, or given by the Engine. */
const OWN = ['/tmp/gns3', '/gns3', '/dev', '/proc', '/sys', '/etc/hosts', '/etc/hostname', '/etc/resolv.conf'];
/** In the volume that every container has, and read by its init.sh: paths that it deletes, each ended by a zero byte. */
const DELETED = '.labwire-deleted';

const VOLUME_IN_THE_WAY = `extra_volumes: no copy is made of a container with a volume /${DISK_CHECKPOINT} or /${RESTORED_DISKS}; choose another path.`;

interface Change {
  Path: string;
  /** 0 changed, 1 added, 2 deleted. */
  Kind: number;
}

class LayerParts extends CheckpointParts<LayerManifest> {
  constructor(directory: string) {
    super(directory, LayerManifest);
  }

  async add(archive: AsyncIterable<Buffer>, manifest: Omit<LayerManifest, 'parts'>): Promise<void> {
    const parts: string[] = [];
    let [pending, bytes] = [[] as Buffer[], 0];
    const flush = async (): Promise<void> => {
      if (bytes > 0) parts.push(await this.keep(Buffer.concat(pending)));
      [pending, bytes] = [[], 0];
    };
    for await (let piece of archive) {
      // Files may grow meanwhile.
      if (parts.length > MOST_CHUNKS) throw new TooMuch('it has written more outside its volumes than is kept');
      while (piece.length > 0) {
        const taken = piece.subarray(0, CHUNK_BYTES - bytes);
        pending.push(taken);
        bytes += taken.length;
        piece = piece.subarray(taken.length);
        if (bytes === CHUNK_BYTES) await flush();
      }
    }
    await flush();
    await this.finish({ ...manifest, parts }, 'outside its volumes it has');
  }

  /** @throws DamagedCopy before anything is made of it */
  async mustBeIntact({ parts }: LayerManifest): Promise<void> {
    for (const name of parts) await this.content(name);
  }

  async *archive({ parts }: LayerManifest): AsyncGenerator<Buffer> {
    for (const name of parts) yield await this.content(name);
  }
}

interface Layer {
  engine: Engine;
  container: string;
  /** The node's directory. */
  directory: string;
}

export interface LayerCheckpointOptions {
  isRunning: boolean;
  /** Copies a container that does not run, too: all files of its image are read for that. */
  stopped: boolean;
  signal: AbortSignal;
}

/** @throws Failure `out-of-space` for more than is kept, `conflict` (`DockerError`) */
export async function takeLayerCheckpoint(
  { engine, container, directory }: Layer,
  { isRunning, stopped, signal }: LayerCheckpointOptions,
): Promise<void> {
  // It waits for the first start.
  if (await new LayerParts(join(directory, RESTORED_DISKS)).manifest()) return;
  const layer = new LayerParts(join(directory, DISK_CHECKPOINT));
  const before = await layer.manifest();
  if (!isRunning && !stopped) {
    // The copy of a container that has been removed is of no use; one that has stopped writes nothing.
    if (before && before.container !== container) await layer.discard();
    return;
  }
  const { Mounts, Image: image } = await engine.call<{ Mounts: { Destination: string }[]; Image: string }>(
    'GET',
    `containers/${container}/json`,
    { signal },
  );
  const left = [...OWN, ...Mounts.map(({ Destination }) => Destination)];
  const isVolume = (name: string): boolean => left.some((one) => isSameOrBelow(`/${name}`, one));
  const isLeft = (path: string): boolean => left.some((one) => isSameOrBelow(one, path));
  // The container could lead what is written there elsewhere.
  if ([DISK_CHECKPOINT, RESTORED_DISKS].some(isVolume)) throw refusal(VOLUME_IN_THE_WAY);
  const all = (await engine.call<Change[] | null>('GET', `containers/${container}/changes`, { signal })) ?? [];
  // The Engine lists them in any order.
  const changes = all.filter(({ Path }) => !isLeft(Path)).sort((a, b) => (a.Path < b.Path ? -1 : 1));
  const deleted = changes.filter(({ Kind }) => Kind === 2).map(({ Path }) => Path);
  const changed = changes.filter(({ Kind }) => Kind !== 2).map(({ Path }) => `.${Path}`);
  const characters = changes.reduce((sum, { Path }) => sum + Buffer.byteLength(Path) + 1, 0);
  if (changes.length > MOST_PATHS || characters > MOST_PATH_CHARACTERS)
    throw new TooMuch(`it has changed ${changes.length} files outside its volumes, more than ${MOST_PATHS}`);
  const run = (words: string[]) => output(engine, container, words, signal);
  const seconds = Math.floor(Date.now() / 1000);
  let state = '';
  if (changed.length > 0 && isRunning)
    for await (const piece of run(['stat', '-c', '%s %n %f %u:%g %Z %z', ...changed])) {
      state += piece.toString();
      // A privileged container can put another program in the place of busybox.
      if (state.length > MOST_STATE_CHARACTERS) throw refusal(STATE_TOO_LONG);
    }
  const isSame = before?.container === container && before.state === state && `${before.deleted}` === `${deleted}`;
  if (isSame && isRunning) return;
  const bytes = [...state.matchAll(/^\d+/gm)].reduce((sum, [size]) => sum + Number(size), 0);
  // Compressed, it may be less; what was too much before is not read again to find out.
  if (bytes > Math.min(2 * LARGEST_DISKS_BYTES, (await layer.tooMuch()) - 1))
    throw new TooMuch(`it has written ${Math.ceil(bytes / 2 ** 20)} MiB outside its volumes`);
  await layer.begin();
  try {
    const archive =
      changed.length === 0
        ? Readable.from([])
        : isRunning
          ? run(['tar', '-c', '--no-recursion', ...changed])
          : await archiveOf(engine, container, new Set(changed), signal);
    await layer.add(archive, { container, image, state: comparable(state, seconds), deleted });
  } catch (error) {
    if (error instanceof TooMuch) await layer.noteTooMuch(isRunning ? bytes : Infinity);
    // It is whole, and its container is known, also when this one has been replaced by then.
    else if (before) await layer.unchanged(before);
    throw error;
  }
}

/**
 * Puts the copy that came with the node into its new container, which has not started. A damaged one is left out.
 * @returns discards the copy, if there is one, once no other container needs it
 * @throws Failure `conflict` with another reason; the copy stays for the next start
 */
export async function restoreLayer(
  { engine, container, directory }: Layer,
  warn: (message: string) => void,
): Promise<(() => Promise<void>) | undefined> {
  const layer = new LayerParts(join(directory, RESTORED_DISKS));
  const discard = (): Promise<void> => discardRestoredLayer(directory);
  const manifest = await layer.arrived('the copy of its files outside its volumes', warn);
  if (!manifest) return undefined;
  try {
    await layer.mustBeIntact(manifest);
  } catch (error) {
    if (!(error instanceof DamagedCopy)) throw error;
    warn(`it begins with its image and volumes, as the copy of its other files cannot be used: ${messageOf(error)}`);
    return discard;
  }
  const { Image } = await engine.call<{ Image: string }>('GET', `containers/${container}/json`);
  if (Image !== manifest.image) warn('its files outside its volumes were copied above another version of its image.');
  const archive = Readable.from(layer.archive(manifest));
  if (manifest.parts.length > 0) await engine.call('PUT', `containers/${container}/archive?path=/`, { archive });
  if (manifest.deleted.length > 0) {
    const folder = join(await realpath(directory), NETWORK);
    if ((await realpath(folder)) !== folder) throw refusal(`${NETWORK} is a link in ${directory}; remove it.`);
    await writeFileAtomically(join(folder, DELETED), manifest.deleted.map((path) => `${path}\0`).join(''));
  }
  return discard;
}

/** Of a node whose container has begun with it: the next start would put it over what the container has written since. */
export function discardRestoredLayer(directory: string): Promise<void> {
  return new LayerParts(join(directory, RESTORED_DISKS)).discard();
}

/** The changed files of a container that does not run. Volumes are not in its archive. */
async function archiveOf(
  engine: Engine,
  container: string,
  changed: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<AsyncIterable<Buffer>> {
  const all = await engine.stream('GET', `containers/${container}/export`, { signal });
  return tarEntries(all, (path) => changed.has(`.${path}`));
}

/** The state to compare the next one with: without fractions of seconds, a file that had just changed counts as changed. */
export function comparable(state: string, seconds: number): string {
  const times = [...state.matchAll(/ (\d+) [\d-]+ [\d:]+(?:\.(\d+))? [+-]\d+$/gm)];
  const isExact = times.some(([, , fraction = '']) => Number(fraction) > 0);
  const isRecent = times.some(([, changed]) => Number(changed) >= seconds - 2);
  return isExact || !isRecent ? state : `${state}recent\n`;
}

/** What a command of busybox writes, run by root in the container's root directory. @throws Failure `conflict` if it fails */
async function* output(
  engine: Engine,
  container: string,
  words: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const body = { AttachStdout: true, AttachStderr: true, User: '0', WorkingDir: '/', Cmd: [BUSYBOX, ...words] };
  const { Id: id } = await engine.call<{ Id: string }>('POST', `containers/${container}/exec`, { body, signal });
  const stream = await engine.hijack(`exec/${id}/start`, { Detach: false, Tty: false }, signal);
  const end = (): void => void stream.destroy(signal.reason as Error);
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  let errors = '';
  try {
    // Frames of the Engine: a byte for the stream, three unused ones, and the length.
    let rest: Buffer = Buffer.alloc(0);
    for await (const piece of stream) {
      rest = Buffer.concat([rest, piece as Buffer]);
      while (rest.length >= 8 && rest.length >= 8 + rest.readUInt32BE(4)) {
        const content = rest.subarray(8, 8 + rest.readUInt32BE(4));
        if (rest[0] === 1) yield content;
        else errors = `${errors}${content.toString()}`.slice(-500);
        rest = rest.subarray(8 + content.length);
      }
    }
  } finally {
    signal.removeEventListener('abort', end);
    stream.destroy();
  }
  signal.throwIfAborted();
  const { ExitCode: code } = await engine.call<{ ExitCode: number | null }>('GET', `exec/${id}/json`, { signal });
  if (code === 0) return;
  throw refusal(`Files changed while they were copied (busybox ${words[0]}: ${errors.trim() || `exit code ${code}`}).`);
}

const isSameOrBelow = (folder: string, path: string): boolean => path === folder || isBelow(folder, path);
