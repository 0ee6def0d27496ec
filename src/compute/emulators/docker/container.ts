// The container of a node in the Engine: created, found again, removed. Running it is not done here.
import { messageOf } from '../../../failures.ts';
import { log } from '../../../host/log.ts';
import { splitWords } from '../../nodes/lifecycle/command-words.ts';
import { type Engine, EngineFailure, exception, refusal } from './engine.ts';
import type { Environment } from './environment.ts';
import { type Level, rightsOf } from './rights.ts';
import { findVolumes, type Labels, type Mount, removeVolumes } from './volumes.ts';

export interface ImageInfo {
  Id: string;
  /** Such as `amd64`. */
  Architecture?: string;
  Config: {
    Entrypoint?: string | string[] | null;
    Cmd?: string | string[] | null;
    User?: string;
    Volumes?: Record<string, unknown> | null;
    StopSignal?: string;
  };
}

export interface ContainerInfo {
  Id: string;
  Created: string;
  State: { Running: boolean; Paused: boolean; Pid: number; ExitCode: number; OOMKilled?: boolean };
  Config: { Labels: Record<string, string> | null; StopSignal?: string };
}

/** The node's id. */
export const NODE_LABEL = 'labwire.node';
/** The id of the daemon's state directory. */
export const INSTANCE_LABEL = 'labwire.instance';
export const PROJECT_LABEL = 'labwire.project';
export const LEVEL_LABEL = 'labwire.rights';
/** Display of the X server whose socket it has. */
export const DISPLAY_LABEL = 'labwire.display';
/** Paths of its volumes, separated by `:`. */
export const VOLUMES_LABEL = 'labwire.volumes';

export interface ContainerNames {
  name: string;
  nodeId: string;
  projectId: string;
}

export interface ContainerOptions extends ContainerNames {
  image: ImageInfo;
  imageName: string;
  startCommand: string | null;
  environment: Environment;
  mounts: readonly Mount[];
  helpers: string;
  level: Level;
  labels: Labels;
}

/** The release's names, with the characters that the Engine allows. */
function containerName({ name, projectId, nodeId }: ContainerNames): string {
  if (/^[\w.-]+$/.test(name)) return `GNS3.${name}.${projectId}`;
  return `GNS3.${name.replace(/[^\w.-]/g, '_')}.${nodeId}`;
}

function hostName(name: string): string {
  const plain = name.normalize('NFKD').replace(/[^A-Za-z0-9.-]+/g, '-');
  return plain.replace(/^[-.]+|[-.]+$/g, '').slice(0, 63) || 'container';
}

const wordsOf = (given: string | string[] | null | undefined): string[] =>
  given == null ? [] : typeof given === 'string' ? ['/bin/sh', '-c', given] : given;

/** @throws Failure `conflict` (`DockerError`) for a start command with an open quote, and the Engine's errors */
export async function createContainer(engine: Engine, options: ContainerOptions): Promise<string> {
  const { image, startCommand, environment, mounts, helpers, level, labels } = options;
  const entry = wordsOf(image.Config.Entrypoint);
  const own = wordsOf(image.Config.Cmd);
  const given = startCommand === null ? [] : splitWords(startCommand, { member: 'start_command', exception });
  const command = given.length > 0 ? given : own.length > 0 ? own : entry.length > 0 ? [] : ['/bin/sh'];
  const body = {
    Hostname: hostName(options.name),
    Image: options.imageName,
    Entrypoint: ['/gns3/init.sh', ...entry],
    Cmd: command,
    Env: environment.words,
    Labels: { ...labels, [LEVEL_LABEL]: level },
    NetworkDisabled: true,
    Tty: true,
    OpenStdin: true,
    StdinOnce: false,
    ...(image.Config.User ? { User: '0' } : {}),
    HostConfig: {
      ...rightsOf(level),
      UsernsMode: 'host',
      // The console has its own scrollback; the Engine's log covers the time when nothing is connected.
      LogConfig: { Type: 'json-file', Config: { 'max-size': '1m', 'max-file': '1' } },
      Mounts: [{ Type: 'bind', Source: helpers, Target: '/gns3', ReadOnly: true }, ...mounts],
    },
  };
  const create = async (name: string): Promise<string> => {
    const query = `name=${encodeURIComponent(name)}`;
    return (await engine.call<{ Id: string }>('POST', `containers/create?${query}`, { body })).Id;
  };
  try {
    return await create(containerName(options));
  } catch (error) {
    // The container that this one replaces still has the name, or another server has a lab with these names.
    if (!(error instanceof EngineFailure) || error.status !== 409) throw error;
    return await create(`labwire-${options.nodeId}-${Date.now().toString(36)}`);
  }
}

/** Names a container after its node, once the replaced one is gone. */
export async function nameContainer(engine: Engine, id: string, names: ContainerNames): Promise<void> {
  const query = `name=${encodeURIComponent(containerName(names))}`;
  await engine.call('POST', `containers/${id}/rename?${query}`).catch((error: unknown) => {
    // It has this name already, or the container of another server has.
    if (!(error instanceof EngineFailure)) throw error;
  });
}

export function inspect(engine: Engine, id: string): Promise<ContainerInfo> {
  return engine.call<ContainerInfo>('GET', `containers/${id}/json`);
}

/** Bytes in its own layer, above the image's. */
export async function writtenBytes(engine: Engine, id: string): Promise<number> {
  return (await engine.call<{ SizeRw?: number }>('GET', `containers/${id}/json?size=1`)).SizeRw ?? 0;
}

/** Containers with all these labels, in any state. */
export async function findContainers(
  engine: Engine,
  labels: readonly string[],
): Promise<{ Id: string; Labels: Labels }[]> {
  const filters = encodeURIComponent(JSON.stringify({ label: labels }));
  return engine.call('GET', `containers/json?all=1&filters=${filters}`);
}

/**
 * Removes the container, running or not, and the Engine's volumes of its node. Containers unknown to the Engine count
 * as removed.
 */
export async function removeContainer(engine: Engine, id: string, nodeId: string): Promise<void> {
  await engine.call('DELETE', `containers/${id}?force=1&v=1`).catch((error: unknown) => {
    if (!(error instanceof EngineFailure) || error.status !== 404) throw error;
  });
  await removeVolumesOf(engine, nodeId);
}

/** These volumes are only names for directories of the node. */
export async function removeVolumesOf(engine: Engine, nodeId: string): Promise<void> {
  try {
    await removeVolumes(engine, await findVolumes(engine, `${NODE_LABEL}=${nodeId}`));
  } catch (error) {
    log.warn('volumes of a container stay', { node: nodeId, reason: messageOf(error) });
  }
}

/** The image's properties. @throws EngineFailure with status 404 if the Engine does not have it */
export async function imageInfo(engine: Engine, name: string): Promise<ImageInfo> {
  if (!/^[\w./:@-]+$/.test(name)) {
    throw refusal(`image: ${JSON.stringify(name)} is no name of an image; use such as alpine:latest.`);
  }
  return engine.call<ImageInfo>('GET', `images/${name}/json`);
}
