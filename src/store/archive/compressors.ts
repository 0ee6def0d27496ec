// Compresses the entries of archives. Node has deflate and Zstandard; no maintained library writes bzip2 or LZMA, so the
// programs `bzip2` and `xz` do.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { constants, createDeflateRaw, createZstdCompress } from 'node:zlib';
import { conflict } from '../../failures.ts';
import { childEnvironment } from '../../host/processes/child-processes.ts';
import { findProgram } from '../../host/processes/program-path.ts';
import { BZIP2, DEFLATE, END_MARKER, LZMA, lzmaHead, STORE, ZSTD } from './methods.ts';

/** How an archive's entries are compressed. */
export interface Compression {
  method: 'stored' | 'deflated' | 'zstd' | 'bzip2' | 'lzma';
  /** Default: one that suits the method. */
  level?: number;
}

type Stage = Duplex | ((pieces: AsyncIterable<Buffer>) => AsyncGenerator<Buffer>);

export interface Compressor {
  /** The number of the method in zip files. */
  method: number;
  /** General-purpose flags of its entries in zip files. */
  flags: number;
  /** New stages of a pipeline for one content. */
  stages(): Stage[];
}

/** One and a half times as fast as the default 6, for archives that are 5 % larger. */
const DEFLATE_LEVEL = 3;
const ZSTD_LEVEL = 3;
const BZIP2_LEVEL = 9;

export const STORED: Compressor = { method: STORE, flags: 0, stages: () => [] };
export const DEFLATED = deflated(DEFLATE_LEVEL);

function deflated(level: number): Compressor {
  return { method: DEFLATE, flags: 0, stages: () => [createDeflateRaw({ level })] };
}

/** @throws Failure `conflict` if the method needs a program that is missing */
export async function compressorFor({ method, level }: Compression): Promise<Compressor> {
  switch (method) {
    case 'stored':
      return STORED;
    case 'deflated':
      return deflated(level ?? DEFLATE_LEVEL);
    case 'zstd': {
      const params = { [constants.ZSTD_c_compressionLevel]: level ?? ZSTD_LEVEL };
      return { method: ZSTD, flags: 0, stages: () => [createZstdCompress({ params })] };
    }
    case 'bzip2': {
      const path = await programFor(method, 'bzip2', 'bzip2');
      return { method: BZIP2, flags: 0, stages: () => throughProgram(path, `-${level ?? BZIP2_LEVEL}`) };
    }
    case 'lzma': {
      const path = await programFor(method, 'xz', 'xz-utils');
      return { method: LZMA, flags: END_MARKER, stages: () => [...throughProgram(path, '--format=lzma'), inZipForm] };
    }
  }
}

async function programFor(method: string, program: string, debianPackage: string): Promise<string> {
  const path = await findProgram(program);
  if (path !== undefined) return path;
  throw conflict(
    `compression: ${method} needs the program ${program}, which is missing. Install it (apt install ${debianPackage}), or use "zstd", "zip" or "none".`,
  );
}

function throughProgram(path: string, word: string): Stage[] {
  const child = spawn(path, ['--stdout', word], { env: childEnvironment(), stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = once(child, 'close');
  ended.catch(() => {});
  const program = Duplex.from({ writable: child.stdin, readable: child.stdout });
  program.once('close', () => program.readableEnded || child.kill('SIGKILL'));
  // The output may end early because the program failed.
  const succeeded = async function* (pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    yield* pieces;
    const [code] = await ended;
    if (code !== 0) throw new Error(`${path} failed (${code ?? child.signalCode})`);
  };
  return [program, succeeded];
}

const FILE_HEADER_BYTES = 13;

/** Replaces the header of an LZMA file by that of zip files. */
async function* inZipForm(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const piece of pieces) {
    if (head === undefined) {
      yield piece;
      continue;
    }
    head = Buffer.concat([head, piece]);
    if (head.length < FILE_HEADER_BYTES) continue;
    yield lzmaHead(head);
    yield head.subarray(FILE_HEADER_BYTES);
    head = undefined;
  }
}
