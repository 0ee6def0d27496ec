// The persistent part of a container: directories below the node's own, which the Engine mounts at the image's volumes.
// When a directory is still empty, the Engine copies the image's files there, with owners and modes.
import { createHash } from 'node:crypto';
import { readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../../../failures.ts';
import { makeNodeDirectory } from '../../nodes/lifecycle/program-node.ts';
import { type Engine, EngineFailure, refusal } from './engine.ts';

/** Every container has it. */
export const NETWORK = '/etc/network';
/** The Engine's labels on our objects. */
export type Labels = Readonly<Record<string, string>>;

/** The paths in the container, without those below others. */
export function volumePaths(ofImage: readonly string[], extra: readonly string[]): string[] {
  const kept: string[] = [];
  for (const wanted of [NETWORK, ...ofImage, ...extra]) {
    const path = `${wanted}/`.replace(/\/+/g, '/');
    if (kept.some((other) => path !== other && path.startsWith(other))) continue;
    kept.splice(0, kept.length, ...kept.filter((other) => !other.startsWith(path)), path);
  }
  return kept.map((path) => (path === '/' ? path : path.slice(0, -1)));
}

export interface VolumeNode {
  id: string;
  name: string;
  directory: string;
  adapters: number;
}

export interface Mount {
  Type: 'volume' | 'bind';
  Source: string;
  Target: string;
  ReadOnly?: boolean;
}

/**
 * Creates the directories and the Engine's volumes for them.
 * @throws Failure `conflict` (`DockerError`) if a directory leads elsewhere: a container may have put a link there
 */
export async function makeVolumes(
  engine: Engine,
  node: VolumeNode,
  paths: readonly string[],
  labels: Labels,
  undo: AsyncDisposableStack,
): Promise<Mount[]> {
  const mounts: Mount[] = [];
  const root = await realpath(node.directory);
  for (const path of paths) {
    const directory = join(root, path);
    await makeNodeDirectory(directory, path, undo);
    if ((await realpath(directory)) !== directory) {
      throw refusal(`extra_volumes: ${path} is a link in ${node.directory}; remove it, or choose another path.`);
    }
    if (path === NETWORK) await writeNetworkFiles(directory, node, undo);
    const name = `labwire-${node.id}-${createHash('sha256').update(`${directory}`).digest('hex').slice(0, 12)}`;
    await engine.call('POST', 'volumes/create', {
      body: { Name: name, Driver: 'local', DriverOpts: { type: 'none', o: 'bind', device: directory }, Labels: labels },
    });
    mounts.push({ Type: 'volume', Source: name, Target: path });
  }
  return mounts;
}

export interface Volume {
  Name: string;
  Labels: Labels;
}

export async function findVolumes(engine: Engine, label: string): Promise<Volume[]> {
  const filters = encodeURIComponent(JSON.stringify({ label: [label] }));
  return (await engine.call<{ Volumes: Volume[] | null }>('GET', `volumes?filters=${filters}`)).Volumes ?? [];
}

/**
 * Removes volumes from the Engine, except those of another container, such as the node's next one. The directories
 * stay.
 */
export async function removeVolumes(engine: Engine, volumes: readonly Volume[]): Promise<void> {
  for (const { Name: name } of volumes) {
    await engine.call('DELETE', `volumes/${name}`).catch((error: unknown) => {
      if (!(error instanceof EngineFailure) || ![404, 409].includes(error.status)) throw error;
    });
  }
}

/** The input of ifup. A file written by the user stays. */
async function writeNetworkFiles(
  directory: string,
  { name, adapters }: VolumeNode,
  undo: AsyncDisposableStack,
): Promise<void> {
  for (const folder of ['if-up.d', 'if-down.d', 'if-pre-up.d', 'if-post-down.d', 'interfaces.d']) {
    await makeNodeDirectory(join(directory, folder), `${NETWORK}/${folder}`, undo);
  }
  const entries = await readdir(directory);
  if (!entries.includes('.gns3_perms')) await writeOnce(join(directory, '.gns3_perms'), '', undo);
  if (!entries.includes('interfaces'))
    await writeOnce(join(directory, 'interfaces'), interfacesFile(name, adapters), undo);
}

async function writeOnce(path: string, content: string, undo: AsyncDisposableStack): Promise<void> {
  try {
    await writeFile(path, content, { flag: 'wx', mode: 0o644 });
    undo.defer(() => rm(path, { force: true }));
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
  }
}

function interfacesFile(name: string, adapters: number): string {
  const stanzas = Array.from({ length: adapters }, (_, number) => {
    const network = `192.168.${number}`;
    return `
# eth${number} with an address of its own
#auto eth${number}
#iface eth${number} inet static
#\taddress ${network}.2
#\tnetmask 255.255.255.0
#\tgateway ${network}.1
#\tup echo nameserver ${network}.1 > /etc/resolv.conf

# eth${number} by DHCP
#auto eth${number}
#iface eth${number} inet dhcp
#\thostname ${name}
`;
  });
  return `# The interfaces of ${name}, as ifup reads them when the node starts. Remove the # of the lines that are to count.

# What else is to be read:
#source /etc/network/interfaces.d/*
${stanzas.join('')}`;
}
