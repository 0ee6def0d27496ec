// What tshark reads of frames of TCP, in a capture or at an interface.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface RecordedFrame {
  bytes: number;
  /** Both checksums, of IP and of TCP, are right. */
  intact: boolean;
}

const CHECKS = ['ip.check_checksum:TRUE', 'tcp.check_checksum:TRUE'];
const FIELDS = ['frame.len', 'ip.checksum.status', 'tcp.checksum.status', 'tcp.checksum', 'tcp.checksum_calculated'];
/** Arguments of tshark with which it prints a line for each frame, for `recordedFrames`. */
export const FRAME_WORDS: readonly string[] = [
  ...['-T', 'fields'],
  ...CHECKS.flatMap((check) => ['-o', check]),
  ...FIELDS.flatMap((field) => ['-e', field]),
];

/** All frames of TCP over IPv4 in what tshark has printed. */
export function recordedFrames(text: string): RecordedFrame[] {
  const lines = text.trim().split('\n');
  return lines.map((line) => {
    const [bytes, ...checksums] = line.split('\t');
    // 1 is good. Linux writes 0xffff for a checksum of 0, which is equal in this arithmetic, and which tshark calls wrong.
    const intact = /^1,(?:1|0,0xffff,0x0000)\b/.test(checksums.join());
    return { bytes: Number(bytes), intact };
  });
}

export async function recordedTcp(file: string): Promise<RecordedFrame[]> {
  const { stdout } = await run('tshark', ['-n', '-r', file, '-Y', 'tcp', ...FRAME_WORDS], { maxBuffer: 2 ** 26 });
  return recordedFrames(stdout);
}
