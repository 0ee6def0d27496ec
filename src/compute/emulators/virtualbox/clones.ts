// Linked clones of VirtualBox machines.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { VBoxManage } from './manage.ts';

const BASE_SNAPSHOT = 'GNS3 Linked Base for clones';

/** A clone in the node's directory, which is registered again when it is there already. */
export async function linkedClone(
  manage: VBoxManage,
  base: string,
  { name, directory }: { name: string; directory: string },
): Promise<string> {
  const file = join(directory, base, `${base}.vbox`);
  if (await stat(file).catch(() => undefined)) {
    await manage.run('registervm', file);
    return base;
  }
  const { uuid, snapshots } = await baseOf(manage, base);
  if (!snapshots.includes(BASE_SNAPSHOT)) await manage.run('snapshot', uuid, 'take', BASE_SNAPSHOT);
  await manage.run(
    ...['clonevm', uuid, '--snapshot', BASE_SNAPSHOT, '--options', 'link'],
    ...['--name', name, '--basefolder', directory, '--register'],
  );
  await manage.run('setextradata', name, 'GNS3/Clone', 'yes');
  await manage.run('snapshot', name, 'take', 'reset').catch(() => {});
  return name;
}

async function baseOf(manage: VBoxManage, base: string): Promise<{ uuid: string; snapshots: string[] }> {
  const info = await manage.info(base);
  const snapshots = [...info].flatMap(([key, value]) => (key.startsWith('SnapshotName') ? [value] : []));
  return { uuid: info.get('UUID') ?? base, snapshots };
}
