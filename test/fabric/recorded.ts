// What tshark reads in a capture.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A frame of TCP in a capture. */
export interface RecordedFrame {
  bytes: number;
  /** Both checksums, of IP and of TCP, are right. */
  intact: boolean;
}

/** All frames of TCP over IPv4 in the file. */
export async function recordedTcp(file: string): Promise<RecordedFrame[]> {
  const fields = ['frame.len', 'ip.checksum.status', 'tcp.checksum.status'];
  const checks = ['ip.check_checksum:TRUE', 'tcp.check_checksum:TRUE'];
  const words = [...checks.flatMap((check) => ['-o', check]), ...fields.flatMap((field) => ['-e', field])];
  const { stdout } = await run('tshark', ['-n', '-r', file, '-Y', 'tcp', '-T', 'fields', ...words], {
    maxBuffer: 2 ** 26,
  });
  const lines = stdout.trimEnd().split('\n');
  return lines.map((line) => {
    const [bytes, ...status] = line.split('\t');
    // 1 is good.
    return { bytes: Number(bytes), intact: status.join() === '1,1' };
  });
}
