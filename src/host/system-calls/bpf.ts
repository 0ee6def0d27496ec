// eBPF maps and programs for traffic control (bpf(2), <linux/bpf.h>).

import { check, libc, Slab, SystemError } from './libc.ts';

/** Number of bpf(2). */
const SYS_BPF = process.arch === 'arm64' ? 280 : 321;

const COMMANDS = {
  BPF_MAP_CREATE: 0,
  BPF_MAP_LOOKUP_ELEM: 1,
  BPF_MAP_UPDATE_ELEM: 2,
  BPF_MAP_DELETE_ELEM: 3,
  BPF_PROG_LOAD: 5,
  BPF_PROG_TEST_RUN: 10,
  BPF_PROG_GET_FD_BY_ID: 13,
  BPF_MAP_GET_FD_BY_ID: 14,
  BPF_OBJ_GET_INFO_BY_FD: 15,
} as const;

const MAP_TYPES = { hash: 1, array: 2 } as const;
/** Elements of a hash are allocated when they are added. */
const BPF_F_NO_PREALLOC = 1;
const BPF_PROG_TYPE_SCHED_CLS = 3;
const INSTRUCTION_BYTES = 8;
/** struct __sk_buff up to Linux 6.x. */
const SKB_BYTES = 192;
const LICENCE = 'GPL';
const NAME_BYTES = 16;
/** struct bpf_prog_info, up to and including the identifiers of its maps, and the size of that list. */
const PROGRAM_INFO = { bytes: 64, mapCount: 52, maps: 56 } as const;
const MOST_MAPS = 16;
/** struct bpf_map_info, up to and including the map's name. */
const MAP_INFO = { bytes: 40, valueBytes: 12, name: 24 } as const;

/** Large enough for every command's attributes. */
const ATTRIBUTES_BYTES = 128;
const KEY_BYTES = 16;
const VALUE_BYTES = 64;
const PROGRAM_BYTES = 4096;
const LOG_BYTES = 1 << 16;
const FRAME_BYTES = 1 << 12;

function makeMemory() {
  const slab = new Slab(
    ATTRIBUTES_BYTES + KEY_BYTES + VALUE_BYTES + PROGRAM_BYTES + LOG_BYTES + 2 * FRAME_BYTES + SKB_BYTES + 256,
  );
  return {
    slab,
    attributes: slab.carve(ATTRIBUTES_BYTES),
    key: slab.carve(KEY_BYTES),
    value: slab.carve(VALUE_BYTES),
    program: slab.carve(PROGRAM_BYTES),
    licence: slab.carve(16),
    log: slab.carve(LOG_BYTES),
    frame: slab.carve(FRAME_BYTES),
    frameOut: slab.carve(FRAME_BYTES),
    context: slab.carve(SKB_BYTES),
  };
}

/** The verifier gives up when this thread gets a signal. */
const LOAD_ATTEMPTS = 50;

type Memory = ReturnType<typeof makeMemory>;
let made: Memory | undefined;

function memory(): Memory {
  made ??= makeMemory();
  return made;
}

/** Runs a command with 32-bit and pointer members of its attributes, by offset. Returns the result or -1. */
function call(
  command: keyof typeof COMMANDS,
  words: Readonly<Record<number, number>>,
  pointers: Readonly<Record<number, number>> = {},
): number {
  const { slab, attributes } = memory();
  slab.bytes.fill(0, attributes, attributes + ATTRIBUTES_BYTES);
  for (const [offset, value] of Object.entries(words))
    slab.bytes.writeUInt32LE(value >>> 0, attributes + Number(offset));
  for (const [offset, place] of Object.entries(pointers))
    slab.writePointer(attributes + Number(offset), slab.address + place);
  return libc().bpf(SYS_BPF, COMMANDS[command], slab.address + attributes, ATTRIBUTES_BYTES);
}

/** The words of an object's name, at this offset of a command's attributes. */
function nameWords(name: string, offset: number): Record<number, number> {
  const text = Buffer.alloc(NAME_BYTES);
  text.write(name, 0, NAME_BYTES - 1, 'latin1');
  const words: Record<number, number> = {};
  for (let at = 0; at < NAME_BYTES; at += 4) words[offset + at] = text.readUInt32LE(at);
  return words;
}

/** A key: a 32-bit number, or as many bytes as the map's keys have. */
type Key = number | Uint8Array;

/**
 * A map from keys of up to 16 bytes to values of up to 64 bytes. The kernel keeps it while it is open or a program uses
 * it.
 */
export class BpfMap {
  readonly descriptor: number;
  readonly valueBytes: number;

  constructor(descriptor: number, valueBytes: number) {
    this.descriptor = descriptor;
    this.valueBytes = valueBytes;
  }

  /**
   * @param name at most 15 letters, digits and `_`
   * @throws SystemError `BPF_MAP_CREATE`: `EPERM` without CAP_BPF, `ENOSYS` on a kernel without bpf(2)
   */
  static create(name: string, type: keyof typeof MAP_TYPES, valueBytes: number, entries: number, keyBytes = 4): BpfMap {
    const flags = type === 'hash' ? BPF_F_NO_PREALLOC : 0;
    const words = { 0: MAP_TYPES[type], 4: keyBytes, 8: valueBytes, 12: entries, 16: flags, ...nameWords(name, 28) };
    return new BpfMap(check('BPF_MAP_CREATE', call('BPF_MAP_CREATE', words)), valueBytes);
  }

  /** A copy of the value; undefined if a hash does not have the key. @throws SystemError */
  get(key: Key): Buffer | undefined {
    const { slab, value } = memory();
    if (this.#run('BPF_MAP_LOOKUP_ELEM', key) < 0) {
      const failure = new SystemError('BPF_MAP_LOOKUP_ELEM', libc().errno());
      if (failure.code === 'ENOENT') return undefined;
      throw failure;
    }
    return Buffer.from(slab.bytes.subarray(value, value + this.valueBytes));
  }

  /**
   * Sets a value. Programs see either the old or the new one in a hash; in an array, of each 8 bytes.
   * @throws SystemError `E2BIG` for a new key of a full hash
   */
  set(key: Key, bytes: Uint8Array): void {
    const { slab, value } = memory();
    slab.bytes.set(bytes.subarray(0, this.valueBytes), value);
    check('BPF_MAP_UPDATE_ELEM', this.#run('BPF_MAP_UPDATE_ELEM', key));
  }

  /** Removes a key from a hash, if it is there. @throws SystemError */
  delete(key: Key): void {
    if (this.#run('BPF_MAP_DELETE_ELEM', key) >= 0) return;
    const failure = new SystemError('BPF_MAP_DELETE_ELEM', libc().errno());
    if (failure.code !== 'ENOENT') throw failure;
  }

  close(): void {
    libc().close(this.descriptor);
  }

  #run(command: 'BPF_MAP_LOOKUP_ELEM' | 'BPF_MAP_UPDATE_ELEM' | 'BPF_MAP_DELETE_ELEM', key: Key): number {
    const places = memory();
    if (typeof key === 'number') places.slab.bytes.writeUInt32LE(key, places.key);
    else places.slab.bytes.set(key, places.key);
    const hasValue = command !== 'BPF_MAP_DELETE_ELEM';
    return call(command, { 0: this.descriptor }, { 8: places.key, ...(hasValue && { 16: places.value }) });
  }
}

/**
 * Loads a program that decides about frames at an interface, and returns its descriptor.
 * @param name for `bpftool`, at most 15 letters, digits and `_`
 * @throws SystemError `BPF_PROG_LOAD`: `EPERM` without CAP_BPF and CAP_NET_ADMIN. If the verifier rejects the program,
 * the message ends with its log.
 */
export function loadTrafficProgram(name: string, instructions: Buffer): number {
  const { slab, program, licence, log } = memory();
  if (instructions.length > PROGRAM_BYTES)
    throw new RangeError(`the program ${name} is longer than ${PROGRAM_BYTES} bytes`);
  instructions.copy(slab.bytes, program);
  slab.bytes.fill(0, licence, licence + 16).write(LICENCE, licence);
  const words: Record<number, number> = {
    ...{ 0: BPF_PROG_TYPE_SCHED_CLS, 4: instructions.length / INSTRUCTION_BYTES },
    ...nameWords(name, 48),
  };
  const pointers = { 8: program, 16: licence };
  let failure: SystemError;
  let left = LOAD_ATTEMPTS;
  do {
    const loaded = call('BPF_PROG_LOAD', words, pointers);
    if (loaded >= 0) return loaded;
    failure = new SystemError('BPF_PROG_LOAD', libc().errno());
  } while (failure.code === 'EAGAIN' && --left > 0);
  slab.bytes[log] = 0;
  const logged = call('BPF_PROG_LOAD', { ...words, 24: 1, 28: LOG_BYTES }, { ...pointers, 32: log });
  if (logged >= 0) return logged;
  const reason = slab.bytes.toString('latin1', log, slab.bytes.indexOf(0, log)).trim();
  if (reason !== '') failure.message += `; the verifier's log: ${reason}`;
  throw failure;
}

/**
 * Loads a program for a task that attaches it, without which it is gone afterwards.
 * @throws SystemError as {@link loadTrafficProgram}
 */
export function withTrafficProgram<T>(name: string, instructions: Buffer, task: (program: number) => T): T {
  const program = loadTrafficProgram(name, instructions);
  try {
    return task(program);
  } finally {
    // Not closeSync, which warns of descriptors that a worker has not opened by Node.
    libc().close(program);
  }
}

/**
 * Opens the maps of the loaded program with this identifier, by name.
 * @throws SystemError `EPERM` without CAP_SYS_ADMIN, `ENOENT` if it is gone
 */
export function openMapsOf(program: number): Map<string, BpfMap> {
  const { slab, frame, frameOut } = memory();
  const loaded = check('BPF_PROG_GET_FD_BY_ID', call('BPF_PROG_GET_FD_BY_ID', { 0: program }));
  const found = new Map<string, BpfMap>();
  using undo = new DisposableStack();
  try {
    slab.bytes.fill(0, frame, frame + PROGRAM_INFO.bytes);
    slab.bytes.writeUInt32LE(MOST_MAPS, frame + PROGRAM_INFO.mapCount);
    slab.writePointer(frame + PROGRAM_INFO.maps, slab.address + frameOut);
    readInfo(loaded, PROGRAM_INFO.bytes);
    const count = Math.min(MOST_MAPS, slab.bytes.readUInt32LE(frame + PROGRAM_INFO.mapCount));
    const ids = Array.from({ length: count }, (_none, index) => slab.bytes.readUInt32LE(frameOut + index * 4));
    for (const id of ids) {
      const descriptor = check('BPF_MAP_GET_FD_BY_ID', call('BPF_MAP_GET_FD_BY_ID', { 0: id }));
      undo.defer(() => void libc().close(descriptor));
      slab.bytes.fill(0, frame, frame + MAP_INFO.bytes);
      readInfo(descriptor, MAP_INFO.bytes);
      const name = slab.bytes.toString('latin1', frame + MAP_INFO.name, slab.bytes.indexOf(0, frame + MAP_INFO.name));
      found.set(name, new BpfMap(descriptor, slab.bytes.readUInt32LE(frame + MAP_INFO.valueBytes)));
    }
    undo.move();
    return found;
  } finally {
    libc().close(loaded);
  }
}

/** Reads so many bytes about a program or a map into the memory of frames. */
function readInfo(descriptor: number, bytes: number): void {
  const { frame } = memory();
  check('BPF_OBJ_GET_INFO_BY_FD', call('BPF_OBJ_GET_INFO_BY_FD', { 0: descriptor, 4: bytes }, { 8: frame }));
}

/** The result of a program's test run. */
export interface TrafficRun {
  /** The program's answer, such as TC_ACT_REDIRECT. */
  answer: number;
}

/**
 * Runs a program once on a frame, without sending it anywhere.
 * @param context members of struct __sk_buff by offset, such as `gso_size`
 * @throws SystemError `BPF_PROG_TEST_RUN`
 */
export function runTrafficProgram(
  descriptor: number,
  frame: Uint8Array,
  context: Readonly<Record<number, number>> = {},
): TrafficRun {
  const places = memory();
  const { bytes } = places.slab;
  if (frame.length > FRAME_BYTES) throw new RangeError(`a test frame has at most ${FRAME_BYTES} bytes`);
  bytes.set(frame, places.frame);
  bytes.fill(0, places.context, places.context + SKB_BYTES);
  for (const [offset, value] of Object.entries(context)) bytes.writeUInt32LE(value, places.context + Number(offset));
  const words = { 0: descriptor, 8: frame.length, 12: FRAME_BYTES, 32: 1, 40: SKB_BYTES };
  const pointers = { 16: places.frame, 24: places.frameOut, 48: places.context };
  check('BPF_PROG_TEST_RUN', call('BPF_PROG_TEST_RUN', words, pointers));
  return { answer: bytes.readInt32LE(places.attributes + 4) };
}
