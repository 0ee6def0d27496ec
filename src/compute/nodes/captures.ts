// Packet captures into the project's directory, and their files as streams that follow them while they grow.
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fabric, FabricPort, LinkType } from '../../fabric/fabric.ts';
import { Failure } from '../../failures.ts';
import { openContainedForRead, writeContained } from '../../host/contained.ts';
import type { NodeProject } from './owner.ts';

const DIRECTORY = 'project-files/captures';
/** Milliseconds between two looks at a file whose end was reached. */
const FOLLOW_INTERVAL = 100;
const READ_SIZE = 64 * 1024;

/** A capture that runs. */
export interface Capture {
  readonly project: NodeProject;
  /** Below the project's directory. */
  readonly name: string;
  /** Absolute. */
  readonly path: string;
  /** Aborted when the file is complete. */
  readonly ended: AbortSignal;
}

interface Running extends Capture {
  readonly end: AbortController;
  failed(message: string): void;
}

export interface CaptureRequest {
  project: NodeProject;
  fileName: string;
  linkType: LinkType;
  /** Called when the file cannot be written any more; the capture has ended then. */
  failed(message: string): void;
}

/** All captures of this compute. */
export class Captures {
  private readonly fabric: Fabric;
  private readonly running = new Map<FabricPort, Running>();
  private readonly files = new Set<string>();

  constructor(fabric: Fabric) {
    this.fabric = fabric;
  }

  start(): void {
    this.fabric.on('capture-failed', ({ port, failure }) => {
      const capture = this.forget(port);
      capture?.failed(failure.message);
    });
  }

  of(port: FabricPort): Capture | undefined {
    return this.running.get(port);
  }

  /**
   * Begins to record into `project-files/captures/<file name>`; a file of that name is replaced.
   * @throws Failure `conflict` when the port or the file is in use, `invalid` for a name that is none
   */
  async begin(port: FabricPort, request: CaptureRequest): Promise<Capture> {
    const name = `${DIRECTORY}/${fileNameOf(request.fileName)}`;
    const path = join(request.project.path, name);
    if (this.running.has(port)) throw new Failure('conflict', 'The port is being captured already; stop that first.');
    if (this.files.has(path)) {
      throw new Failure('conflict', `capture_file_name: ${request.fileName} is being written by another capture.`);
    }
    await using undo = new AsyncDisposableStack();
    this.files.add(path);
    undo.defer(() => void this.files.delete(path));
    // Made within the project's directory before anybody opens it by its path.
    await writeContained(request.project.path, name, '', { createParents: true });
    await port.startCapture({ file: path, linkType: request.linkType });
    const end = new AbortController();
    const capture = { project: request.project, name, path, end, ended: end.signal, failed: request.failed };
    this.running.set(port, capture);
    undo.move();
    return capture;
  }

  /** Completes the file; nothing happens if the port is not being captured. */
  async end(port: FabricPort): Promise<void> {
    await port.stopCapture();
    this.forget(port);
  }

  private forget(port: FabricPort): Running | undefined {
    const capture = this.running.get(port);
    if (capture === undefined) return undefined;
    this.running.delete(port);
    this.files.delete(capture.path);
    capture.end.abort();
    return capture;
  }
}

function fileNameOf(name: string): string {
  if (!/[/\0]/.test(name) && name !== '.' && name !== '..') return name;
  throw new Failure('invalid', `capture_file_name: "${name}" is not the name of a file; leave out "/".`);
}

/** The file of a capture from its beginning; ends when the capture has ended and everything was told. */
export async function followCapture({ project, name, ended }: Capture): Promise<Response> {
  const { handle } = await openContainedForRead(project.path, name);
  let buffer = Buffer.allocUnsafe(READ_SIZE);
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const size = await readOn(handle, buffer, ended);
        if (size > 0) {
          controller.enqueue(buffer.subarray(0, size));
          buffer = Buffer.allocUnsafe(READ_SIZE);
          return;
        }
        controller.close();
        await handle.close();
      },
      cancel: () => handle.close(),
    },
    { highWaterMark: 0 },
  );
  return new Response(body, {
    headers: { 'Content-Type': 'application/vnd.tcpdump.pcap', 'Cache-Control': 'no-store' },
  });
}

/** Reads what comes next in the file, waiting for it as long as the capture runs; 0 at the end. */
async function readOn(handle: FileHandle, buffer: Buffer, ended: AbortSignal): Promise<number> {
  for (;;) {
    // Asked before reading: what is written until the end is there in the last read.
    const last = ended.aborted;
    const { bytesRead } = await handle.read(buffer, 0, buffer.length);
    if (bytesRead > 0 || last) return bytesRead;
    await sleep(FOLLOW_INTERVAL, undefined, { signal: ended }).catch(() => {});
  }
}
