// Names of capture files.
import { readdir } from 'node:fs/promises';

/** The next free name in the directory: `ping-2.pcap` after `ping.pcap`, then `ping-3.pcap`. */
export async function followingName(directory: string, name: string): Promise<string> {
  const taken = new Set(await readdir(directory).catch(() => []));
  const [, stem = '', number = '1', ending = ''] = /^(.*?)(?:-(\d{1,6}))?(\.[^.]*)?$/s.exec(name) ?? [];
  for (let next = Number(number) + 1; ; next += 1) {
    const following = `${stem}-${next}${ending}`;
    if (!taken.has(following)) return following;
  }
}
