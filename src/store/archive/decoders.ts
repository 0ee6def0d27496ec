// Decoders for compression methods that Node does not support: bzip2 and LZMA (APPNOTE 6.3 of the format, section 5.8).
// Input and output are processed in pieces, never in memory as a whole. They work synchronously, for a thread of their
// own.
import { readSync } from 'node:fs';
import {
  autoDecoderInit,
  code,
  copyFromWasm,
  end,
  initModule,
  LZMA_BUF_ERROR,
  LZMA_FINISH,
  LZMA_MEMLIMIT_ERROR,
  LZMA_OK,
  LZMA_RUN,
  LZMA_STREAM_END,
  WasmLzmaStream,
} from 'node-liblzma/wasm';
import createLiblzma from 'node-liblzma/wasm/liblzma.js';
import Bunzip from 'seek-bzip';
import { conflict, type Failure } from '../../failures.ts';
import { wasmFile } from '../../host/files/assets.ts';
import { BZIP2, END_MARKER, type LZMA, LZMA_PROPERTIES_BYTES } from './methods.ts';

/** An entry's compressed bytes, and what the archive states about its content. */
export interface EncodedContent {
  method: typeof BZIP2 | typeof LZMA;
  descriptor: number;
  from: number;
  length: number;
  /** Uncompressed size in bytes. */
  size: number;
  /** The entry's flags: with bit 1 an LZMA stream ends with a marker. */
  flags: number;
}

export type Pieces = Generator<Uint8Array<ArrayBuffer>, void, void>;

const PIECE_BYTES = 256 * 1024;
/** The header of liblzma's decoder for LZMA files: properties, dictionary and size. */
const ALONE_HEADER_BYTES = 13;
/** Version and size of the properties, then the properties: one byte and the dictionary size. */
const LZMA_HEADER_BYTES = 9;
const SMALLEST_DICTIONARY_BYTES = 4096;
/** The dictionary of the highest level of xz. */
const LARGEST_DICTIONARY_BYTES = 64 * 1024 * 1024;
const DECODER_BYTES = 1024 * 1024;

/** The content of an entry. The generator throws for invalid data, with a Failure for valid data that is too large. */
export async function decoder(content: EncodedContent): Promise<Pieces> {
  if (content.method === BZIP2) return bunzip2(content);
  const module = await initModule(() => createLiblzma({ wasmBinary: wasmFile('node-liblzma/wasm/liblzma.wasm') }));
  return unlzma(content, module);
}

class Input {
  readonly #descriptor: number;
  readonly #buffer = Buffer.alloc(PIECE_BYTES);
  #place: number;
  #left: number;
  #piece: Buffer = this.#buffer.subarray(0, 0);
  #at = 0;

  constructor({ descriptor, from, length }: EncodedContent) {
    this.#descriptor = descriptor;
    this.#place = from;
    this.#left = length;
  }

  get hasEnded(): boolean {
    return this.#left === 0 && this.#at === this.#piece.length;
  }

  /** The unread rest of the present piece, or the next one; empty at the end. */
  piece(): Buffer {
    if (this.#at === this.#piece.length) this.#fill();
    const rest = this.#piece.subarray(this.#at);
    this.#at = this.#piece.length;
    return rest;
  }

  readByte(): number {
    if (this.#at === this.#piece.length) this.#fill();
    const byte = this.#piece[this.#at];
    if (byte === undefined) throw tooShort();
    this.#at += 1;
    return byte;
  }

  /** The interface that `seek-bzip` needs for the stream's head. */
  read(into: Buffer, offset: number, length: number): number {
    for (let at = offset; at < offset + length; at += 1) into[at] = this.readByte();
    return length;
  }

  #fill(): void {
    const length = Math.min(this.#left, this.#buffer.length);
    const read = length === 0 ? 0 : readSync(this.#descriptor, this.#buffer, 0, length, this.#place);
    this.#place += read;
    this.#left = read === 0 ? 0 : this.#left - read;
    this.#piece = this.#buffer.subarray(0, read);
    this.#at = 0;
  }
}

/** Collects single bytes into pieces. */
class Output {
  readonly #most: number;
  #buffer = new Uint8Array(PIECE_BYTES);
  #filled = 0;
  #total = 0;
  #pieces: Uint8Array<ArrayBuffer>[] = [];

  /** @param most the largest total in bytes */
  constructor(most: number) {
    this.#most = most;
  }

  writeByte(byte: number): void {
    if (this.#filled === PIECE_BYTES) this.#cut();
    this.#buffer[this.#filled] = byte;
    this.#filled += 1;
  }

  /** Returns all pieces since the last call. */
  take(): Uint8Array<ArrayBuffer>[] {
    this.#cut();
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }

  #cut(): void {
    if (this.#filled === 0) return;
    this.#total += this.#filled;
    if (this.#total > this.#most) throw tooLong();
    this.#pieces.push(this.#buffer.subarray(0, this.#filled));
    this.#buffer = new Uint8Array(PIECE_BYTES);
    this.#filled = 0;
  }
}

/** Decodes block by block, at most 46 MB each. The library has no interface for that, so this uses its internals. */
function* bunzip2(content: EncodedContent): Pieces {
  const output = new Output(content.size);
  const bunzip = new Bunzip(new Input(content), output);
  while (bunzip._init_block()) {
    bunzip._read_bunzip();
    yield* output.take();
  }
}

function* unlzma(content: EncodedContent, module: Awaited<ReturnType<typeof initModule>>): Pieces {
  const input = new Input(content);
  let piece: Buffer = aloneHeader(input, content);
  const stream = new WasmLzmaStream(module);
  const inputAt = module._malloc(PIECE_BYTES);
  const outputAt = module._malloc(PIECE_BYTES);
  try {
    autoDecoderInit(stream, LARGEST_DICTIONARY_BYTES + DECODER_BYTES);
    let left = content.size;
    for (let status = LZMA_OK; status !== LZMA_STREAM_END; ) {
      if (stream.availIn === 0 && piece.length > 0) {
        // The module's memory may have grown, which replaces the buffer.
        module.HEAPU8.set(piece, inputAt);
        stream.setInput(inputAt, piece.length);
        piece = input.piece();
      }
      stream.setOutput(outputAt, PIECE_BYTES);
      status = code(stream, piece.length === 0 ? LZMA_FINISH : LZMA_RUN);
      const length = PIECE_BYTES - stream.availOut;
      left -= length;
      if (left < 0) throw tooLong();
      if (length > 0) yield copyFromWasm(module, outputAt, length) as Uint8Array<ArrayBuffer>;
      if (status === LZMA_BUF_ERROR) throw tooShort();
      if (status === LZMA_MEMLIMIT_ERROR) throw tooLarge();
      if (status !== LZMA_OK && status !== LZMA_STREAM_END) throw new Error('its data are no LZMA stream');
    }
  } finally {
    end(stream);
    stream.free();
    module._free(inputAt);
    module._free(outputAt);
  }
}

/**
 * The stream's header for liblzma. The dictionary need not be larger than the content; liblzma requires powers of two.
 */
function aloneHeader(input: Input, { size, flags }: EncodedContent): Buffer {
  const head = Buffer.alloc(LZMA_HEADER_BYTES);
  input.read(head, 0, head.length);
  if (head.readUInt16LE(2) !== LZMA_PROPERTIES_BYTES) throw new Error('its data are no LZMA stream');
  const needed = Math.max(SMALLEST_DICTIONARY_BYTES, Math.min(head.readUInt32LE(5), size));
  if (needed > LARGEST_DICTIONARY_BYTES) throw tooLarge();
  const header = Buffer.alloc(ALONE_HEADER_BYTES);
  header.writeUInt8(head.readUInt8(4), 0);
  header.writeUInt32LE(2 ** Math.ceil(Math.log2(needed)), 1);
  header.writeBigInt64LE(flags & END_MARKER ? -1n : BigInt(size), 5);
  return header;
}

function tooShort(): Error {
  return new Error('its data end too early');
}

function tooLong(): Error {
  return new Error('it unpacks to more than the archive says');
}

function tooLarge(): Failure {
  const most = LARGEST_DICTIONARY_BYTES / 1024 ** 2;
  return conflict(
    `its dictionary of LZMA is larger than ${most} MiB; export the project again with compression "zstd" or "zip"`,
  );
}
