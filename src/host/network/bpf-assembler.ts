// A small assembler for eBPF (Documentation/bpf/standardization/instruction-set.rst): one method an instruction, and
// names for places to jump to.

/** A register: r0 has results, r1 to r5 arguments, r6 to r9 outlast calls, r10 is the end of the stack. */
export type Register = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10;

/** The end of the stack; places on it have negative offsets. */
export const STACK = 10;

const CLASS = { load: 0x01, store: 0x02, storeRegister: 0x03, jump: 0x05, alu64: 0x07 } as const;
const FROM_REGISTER = 0x08;
const MEMORY_MODE = 0x60;
const ATOMIC_MODE = 0xc0;
const SIZES = { word: 0x00, half: 0x08, byte: 0x10, double: 0x18 } as const;
const LOAD_MAP = 0x18;
const PSEUDO_MAP_DESCRIPTOR = 1;

const ARITHMETIC = {
  add: 0x00,
  subtract: 0x10,
  multiply: 0x20,
  divide: 0x30,
  and: 0x50,
  shiftLeft: 0x60,
  shiftRight: 0x70,
  move: 0xb0,
} as const;
const CONDITIONS = { always: 0x00, equal: 0x10, greater: 0x20, notEqual: 0x50 } as const;
const CALL = 0x80;
const EXIT = 0x90;

/** Functions of the kernel. */
const HELPERS = {
  map_lookup_elem: 1,
  ktime_get_ns: 5,
  skb_store_bytes: 9,
  clone_redirect: 13,
  skb_get_tunnel_key: 20,
  skb_set_tunnel_key: 21,
  redirect: 23,
  skb_load_bytes: 26,
  skb_adjust_room: 50,
  redirect_peer: 155,
} as const;

type Size = keyof typeof SIZES;

export class BpfAssembler {
  readonly #code: Buffer[] = [];
  readonly #labels = new Map<string, number>();
  readonly #jumps: { at: number; label: string }[] = [];

  /** `target = target <operation> number` */
  set(operation: keyof typeof ARITHMETIC, target: Register, number: number): this {
    return this.#emit(CLASS.alu64 | ARITHMETIC[operation], target, 0, 0, number);
  }

  /** `target = target <operation> source` */
  setFrom(operation: keyof typeof ARITHMETIC, target: Register, source: Register): this {
    return this.#emit(CLASS.alu64 | ARITHMETIC[operation] | FROM_REGISTER, target, source, 0, 0);
  }

  /** `target = *(source + offset)` */
  load(size: Size, target: Register, source: Register, offset: number): this {
    return this.#emit(CLASS.load | SIZES[size] | MEMORY_MODE, target, source, offset, 0);
  }

  /** `*(target + offset) = number` */
  storeNumber(size: Size, target: Register, offset: number, number: number): this {
    return this.#emit(CLASS.store | SIZES[size] | MEMORY_MODE, target, 0, offset, number);
  }

  /** `*(target + offset) = source` */
  store(size: Size, target: Register, offset: number, source: Register): this {
    return this.#emit(CLASS.storeRegister | SIZES[size] | MEMORY_MODE, target, source, offset, 0);
  }

  /** `*(target + offset) += source`, 64 bits, atomically */
  atomicAdd(target: Register, offset: number, source: Register): this {
    return this.#emit(CLASS.storeRegister | SIZES.double | ATOMIC_MODE, target, source, offset, 0);
  }

  /** `target = map` */
  loadMap(target: Register, descriptor: number): this {
    return this.#emit(LOAD_MAP, target, PSEUDO_MAP_DESCRIPTOR, 0, descriptor).#emit(0, 0, 0, 0, 0);
  }

  call(helper: keyof typeof HELPERS): this {
    return this.#emit(CLASS.jump | CALL, 0, 0, 0, HELPERS[helper]);
  }

  /** r0 = the map's value for the key at this place of the stack, or 0. Changes r1 to r5. */
  lookUp(map: number, keyAt: number): this {
    return this.setFrom('move', 2, STACK).set('add', 2, keyAt).loadMap(1, map).call('map_lookup_elem');
  }

  /**
   * Copies bytes of the frame of `context`, from the offset in r2 on, to the stack; r0 = 0 unless the frame is too
   * short. Changes r1 to r5.
   */
  loadBytes(context: Register, at: number, length: number): this {
    this.setFrom('move', 1, context).setFrom('move', 3, STACK).set('add', 3, at).set('move', 4, length);
    return this.call('skb_load_bytes');
  }

  jump(label: string): this {
    return this.jumpIf('always', 0, 0, label);
  }

  /** Jumps if `register <condition> number`. */
  jumpIf(condition: keyof typeof CONDITIONS, register: Register, number: number, label: string): this {
    this.#jumps.push({ at: this.#code.length, label });
    return this.#emit(CLASS.jump | CONDITIONS[condition], register, 0, 0, number);
  }

  /** Names the place of the next instruction. */
  label(name: string): this {
    this.#labels.set(name, this.#code.length);
    return this;
  }

  /** Ends the program with r0 as its answer. */
  exit(): this {
    return this.#emit(CLASS.jump | EXIT, 0, 0, 0, 0);
  }

  /** The program's instructions, 8 bytes each. @throws RangeError for a jump to an unknown label */
  assemble(): Buffer {
    for (const { at, label } of this.#jumps) {
      const place = this.#labels.get(label);
      if (place === undefined) throw new RangeError(`the eBPF program has no label ${label}`);
      this.#code[at]!.writeInt16LE(place - at - 1, 2);
    }
    return Buffer.concat(this.#code);
  }

  #emit(code: number, target: number, source: number, offset: number, number: number): this {
    const instruction = Buffer.alloc(8);
    instruction.writeUInt8(code, 0);
    instruction.writeUInt8(target | (source << 4), 1);
    instruction.writeInt16LE(offset, 2);
    instruction.writeInt32LE(number | 0, 4);
    this.#code.push(instruction);
    return this;
  }
}
