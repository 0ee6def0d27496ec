// The system's libpcap, which compiles filter expressions (pcap-filter(7)). It runs in another thread, because
// expressions may contain host names, and looking these up takes an unpredictable time.
import { conflict } from '../../failures.ts';
import { loadKoffi } from '../system-calls/koffi.ts';
import { KeyedLock } from '../values/keyed-lock.ts';

/** Debian's name, and the usual one. */
const NAMES = ['libpcap.so.0.8', 'libpcap.so.1'];
const WHOLE_FRAME_BYTES = 65_535;
const OPTIMIZE = 1;
/** The network mask is unknown (PCAP_NETMASK_UNKNOWN). */
const NO_MASK = 0xffffffff;
/** Characters: far more than people write, few enough for libpcap's recursion. */
const LONGEST_CHARACTERS = 1000;
/** Time limit (ms) for looking up host names. */
const TIMEOUT_MS = 5000;

function declare() {
  const koffi = loadKoffi();
  const library = NAMES.reduce<ReturnType<typeof koffi.load> | undefined>((found, name) => {
    if (found !== undefined) return found;
    try {
      return koffi.load(name);
    } catch {
      return undefined;
    }
  }, undefined);
  if (library === undefined) return undefined;
  // struct bpf_program; an instruction has eight bytes: code (16 bits), jt, jf (8 bits each), k (32 bits).
  const program = koffi.struct({ bf_len: 'uint32_t', bf_insns: 'void *' });
  const result = koffi.out(koffi.pointer(program));
  return {
    dataLink: library.func('pcap_datalink_name_to_val', 'int', ['str']),
    openDead: library.func('pcap_open_dead', 'void *', ['int', 'int']),
    compile: library.func('pcap_compile', 'int', ['void *', result, 'str', 'int', 'uint32_t']),
    error: library.func('pcap_geterr', 'str', ['void *']),
    freeCode: library.func('pcap_freecode', 'void', [koffi.pointer(program)]),
    close: library.func('pcap_close', 'void', ['void *']),
    instructions: ({ bf_len, bf_insns }: Program): Uint32Array =>
      Uint32Array.from(koffi.decode(bf_insns, koffi.array('uint32_t', bf_len * 2)) as Iterable<number>),
  };
}

interface Program {
  bf_len: number;
  bf_insns: unknown;
}

let declared: ReturnType<typeof declare>;
/** One at a time, so that slow host names block one thread and not all. */
const lock = new KeyedLock();

/**
 * Compiles an expression: for each instruction the words `code | jt << 16 | jf << 24` and `k`.
 * @param linkType such as `EN10MB` or `DLT_EN10MB`
 * @throws Failure `conflict` for an invalid expression, and without libpcap
 */
export async function compileFilter(expression: string, linkType = 'EN10MB'): Promise<Uint32Array> {
  const quoted = JSON.stringify(expression);
  if (expression.length > LONGEST_CHARACTERS || expression.includes('\0')) {
    throw conflict(`${quoted.slice(0, 60)}...: use at most ${LONGEST_CHARACTERS} characters, and no NUL.`);
  }
  const compiling = lock.run('libpcap', () => compile(expression, linkType));
  // After the time limit the result is ignored.
  compiling.catch(() => {});
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const message = `${quoted} is not compiled after ${TIMEOUT_MS / 1000} s, as host names are slow to look up; use addresses.`;
    timer = setTimeout(() => reject(conflict(message)), TIMEOUT_MS);
  });
  try {
    return await Promise.race([compiling, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function compile(expression: string, linkType: string): Promise<Uint32Array> {
  declared ??= declare();
  if (declared === undefined) {
    throw conflict('libpcap is not installed on this host (Debian: apt install libpcap0.8).');
  }
  const pcap = declared;
  const dataLink = pcap.dataLink(linkType.replace(/^DLT_/, '')) as number;
  if (dataLink < 0) throw conflict(`${JSON.stringify(linkType)} is no link type of libpcap.`);
  const handle = pcap.openDead(dataLink, WHOLE_FRAME_BYTES);
  try {
    const program = {} as Program;
    const failed = await new Promise<boolean>((resolve, reject) => {
      const done = (error: unknown, result: number): void => (error ? reject(error) : resolve(result < 0));
      pcap.compile.async(handle, program, expression, OPTIMIZE, NO_MASK, done);
    });
    if (failed) throw conflict(`${JSON.stringify(expression)}: ${pcap.error(handle)}`);
    try {
      return pcap.instructions(program);
    } finally {
      pcap.freeCode(program);
    }
  } finally {
    pcap.close(handle);
  }
}
