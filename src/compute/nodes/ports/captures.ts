// Packet captures into the project's directory, and streams that follow their files while they grow.
import { basename, dirname, join } from 'node:path';
import type { NodeCapture } from '../../../api/routes/compute-nodes.ts';
import type {
  CaptureFile,
  CaptureFileOptions,
  CaptureStatistics,
  Fabric,
  FabricPort,
  LinkType,
} from '../../../fabric/fabric.ts';
import { conflict, Failure, invalid } from '../../../failures.ts';
import { openContainedForRead, removeContained, writeContained } from '../../../host/files/contained-files.ts';
import { compileFilter } from '../../../host/network/libpcap.ts';
import type { Connected } from '../../../http/app/route.ts';
import { feedBytes } from '../../../http/sockets/byte-feed.ts';
import { CAPTURES_DIRECTORY, isPartOfRing, RING_FILES } from '../../../store/captures.ts';
import type { NodeProject } from '../owner.ts';

export interface Capture {
  /** Absolute. */
  readonly path: string;
  readonly file: CaptureFile;
}

interface Running extends Capture {
  failed(message: string): void;
}

export interface CaptureRequest {
  project: NodeProject;
  asked: NodeCapture;
  /** The interface's name in pcapng. */
  interfaceName: string;
  /** Called when the file cannot be written any more. The capture has ended then. */
  failed(message: string): void;
}

export class Captures {
  readonly #fabric: Fabric;
  readonly #running = new Map<FabricPort, Running>();
  /** By the path of a file being written: whether it belongs to a ring. */
  readonly #files = new Map<string, { ring: boolean }>();

  constructor(fabric: Fabric) {
    this.#fabric = fabric;
  }

  start(): void {
    this.#fabric.on('capture-failed', ({ port, failure }) => {
      const capture = this.#forget(port);
      capture?.failed(failure.message);
    });
  }

  of(port: FabricPort): Capture | undefined {
    return this.#running.get(port);
  }

  /**
   * Starts recording into `project-files/captures/<file name>`. An existing file is replaced.
   * @throws Failure `conflict` if the port or the file is in use, `invalid` for an invalid name or filter
   */
  async begin(port: FabricPort, { project, asked, interfaceName, failed }: CaptureRequest): Promise<Capture> {
    const name = `${CAPTURES_DIRECTORY}/${fileNameOf(asked.capture_file_name)}`;
    const path = join(project.path, name);
    const settings = await settingsOf(asked, interfaceName);
    if (this.#running.has(port)) throw conflict('The port is being captured already; stop that first.');
    if (this.#isTaken(path, settings.ring !== undefined)) {
      throw conflict(`capture_file_name: ${asked.capture_file_name} is being written by another capture.`);
    }
    await using undo = new AsyncDisposableStack();
    this.#files.set(path, { ring: settings.ring !== undefined });
    undo.defer(() => void this.#files.delete(path));
    if (!(await isThere(project.path, name))) undo.defer(() => removeContained(project.path, name).catch(() => {}));
    // Created within the project's directory before it is opened by its path.
    await writeContained(project.path, name, '', { createParents: true });
    const file = await port.startCapture({ file: path, ...settings });
    const capture = { path, file, failed };
    this.#running.set(port, capture);
    undo.move();
    return capture;
  }

  /** Completes the file; ignored if the port is not being captured. */
  async end(port: FabricPort): Promise<void> {
    await port.stopCapture();
    this.#forget(port);
  }

  /** Whether another capture writes this file, or one that either's ring would write. */
  #isTaken(path: string, ring: boolean): boolean {
    const [directory, name] = [dirname(path), basename(path)];
    for (const [other, { ring: otherRing }] of this.#files) {
      if (other === path) return true;
      if (dirname(other) !== directory) continue;
      if (otherRing && isPartOfRing(basename(other), name)) return true;
      if (ring && isPartOfRing(name, basename(other))) return true;
    }
    return false;
  }

  #forget(port: FabricPort): Running | undefined {
    const capture = this.#running.get(port);
    if (capture === undefined) return undefined;
    this.#running.delete(port);
    this.#files.delete(capture.path);
    return capture;
  }
}

/** Whether a file exists; an unreadable one does. */
async function isThere(root: string, path: string): Promise<boolean> {
  try {
    const { handle } = await openContainedForRead(root, path);
    await handle.close();
    return true;
  } catch (error) {
    return !(error instanceof Failure && error.code === 'not-found');
  }
}

function fileNameOf(name: string): string {
  if (!/[/\0]/.test(name) && name !== '.' && name !== '..') return name;
  throw invalid(`capture_file_name: "${name}" is not the name of a file; leave out "/".`);
}

async function settingsOf(asked: NodeCapture, interfaceName: string): Promise<Omit<CaptureFileOptions, 'file'>> {
  const { ring_size: fileBytes, ring_files: files, interface_description: description } = asked;
  if (files !== undefined && fileBytes === undefined) {
    throw invalid('ring_files: needs ring_size, the bytes of each file.');
  }
  return {
    linkType: asked.data_link_type,
    interface: { name: interfaceName, ...(description !== undefined && { description }) },
    ...(asked.format !== undefined && { format: asked.format }),
    ...(asked.snap_length !== undefined && { snapLength: asked.snap_length }),
    ...(fileBytes !== undefined && { ring: { fileBytes, files: files ?? RING_FILES } }),
    ...(asked.filter !== undefined && { filter: await filterOf(asked.filter, asked.data_link_type) }),
  };
}

async function filterOf(expression: string, linkType: LinkType): Promise<{ expression: string; program: Uint32Array }> {
  try {
    return { expression, program: await compileFilter(expression, linkType) };
  } catch (thrown) {
    if (thrown instanceof Failure) throw invalid(`filter: ${thrown.message}`, { cause: thrown });
    throw thrown;
  }
}

/**
 * The capture from its beginning, or from the oldest file of a ring, or (`last`) its header and about so many bytes
 * before its end. Ends when the capture has ended and everything was sent.
 */
export function followCapture({ file }: Capture, last?: number): Response {
  const reader = file.reader(last);
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const bytes = await reader.read();
          if (bytes === undefined) controller.close();
          else controller.enqueue(bytes);
        } catch (error) {
          await reader.close();
          throw error;
        }
      },
      cancel: () => reader.close(),
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { 'Content-Type': file.contentType, 'Cache-Control': 'no-store' } });
}

/**
 * The same over a WebSocket: bytes as binary messages, and as text the counts of recorded, dropped, and (for this
 * client) skipped data.
 */
export function captureSocket(
  { file }: Capture,
  figures: () => Promise<CaptureStatistics | undefined>,
  last?: number,
): Connected {
  return (socket) => {
    const reader = file.reader(last);
    void feedBytes(socket, {
      read: () => reader.read(),
      close: () => reader.close(),
      // Live figures, or those of the file once it is complete.
      told: async () => ({ ...((await figures()) ?? file.statistics), skipped_bytes: reader.skipped }),
      end: 'The capture has ended.',
    });
  };
}
