// Creates the container of a node: pulls a missing image, and prepares volumes and environment.
import { splitWords } from '../../nodes/lifecycle/command-words.ts';
import type { NodeProject } from '../../nodes/owner.ts';
import type { Services } from '../../services.ts';
import {
  createContainer,
  DISPLAY_LABEL,
  type ImageInfo,
  INSTANCE_LABEL,
  imageInfo,
  NODE_LABEL,
  PROJECT_LABEL,
  removeVolumesOf,
  VOLUMES_LABEL,
} from './container.ts';
import type { DockerHost } from './docker-host.ts';
import { EngineFailure, exception } from './engine.ts';
import { type Environment, environmentOf } from './environment.ts';
import { helperFolder } from './helper-files.ts';
import type { Level } from './rights.ts';
import type { HiddenSettings, Settings } from './settings.ts';
import { makeVolumes, volumePaths } from './volumes.ts';
import { socketOf } from './x-server.ts';

/** Of this host, in the Engine's notation. */
const ARCHITECTURE = process.arch === 'x64' ? 'amd64' : process.arch;

/** Everything a container is created from. */
export interface Wanted {
  settings: Settings;
  hidden: HiddenSettings;
  /** With its tag. */
  image: string;
  level: Level;
  /** Of its X server. */
  display?: number;
}

interface Identity {
  id: string;
  name: string;
  project: NodeProject;
  directory: string;
}

export interface Made {
  id: string;
  /** Paths in the container. */
  volumes: readonly string[];
  /** It has not run long enough to show whether it needs more rights. */
  isNew: boolean;
}

type Sound = Omit<Wanted, 'level'> & Identity;

/** @throws Failure `conflict` (`DockerError`) for settings that no container can be created with */
export function assertCreatable({ settings, ...of }: Sound): void {
  if (settings.start_command !== null) splitWords(settings.start_command, { member: 'start_command', exception });
  environment({ settings, ...of }, [], '');
}

/**
 * Creates the container without starting it.
 * @throws Failure `conflict` (`DockerError`, `DockerHttp404Error`) if the image does not exist, and for the Engine's
 * errors
 */
export async function makeContainer(wanted: Wanted & Identity, services: Services, host: DockerHost): Promise<Made> {
  const { id, name, project, directory, settings, image: imageName, level, display } = wanted;
  const { engine } = host;
  const image = await foundImage(wanted, services, host);
  const helpers = await helperFolder(services.config.Server.resources_path);
  const volumes = volumePaths(Object.keys(image.Config.Volumes ?? {}), settings.extra_volumes);
  const labels = {
    [NODE_LABEL]: id,
    [INSTANCE_LABEL]: services.instance,
    [PROJECT_LABEL]: project.id,
    [VOLUMES_LABEL]: volumes.join(':'),
    ...(display === undefined ? {} : { [DISPLAY_LABEL]: `${display}` }),
  };
  const node = { id, name, directory, adapters: settings.adapters };
  await using undo = new AsyncDisposableStack();
  undo.defer(() => removeVolumesOf(engine, id));
  const mounts = await makeVolumes(engine, node, volumes, labels, undo);
  if (display !== undefined) {
    const socket = socketOf(display);
    mounts.push({ Type: 'bind', Source: socket, Target: socket, ReadOnly: true });
  }
  const { words, complaints } = environment(wanted, volumes, image.Config.User ?? '');
  if (image.Architecture !== undefined && image.Architecture !== ARCHITECTURE) {
    complaints.push(
      `${imageName} is made for ${image.Architecture}, this host is ${ARCHITECTURE}: its programs need an emulator (apt install qemu-user-static).`,
    );
  }
  for (const complaint of complaints) {
    services.events.emit('log.warning', { message: `${name}: ${complaint}` }, project.id);
  }
  const container = await createContainer(engine, {
    name,
    nodeId: id,
    projectId: project.id,
    image,
    imageName,
    startCommand: settings.start_command,
    environment: { words, complaints },
    mounts,
    helpers,
    level,
    labels,
  });
  undo.move();
  return { id: container, volumes, isNew: true };
}

function environment(
  { settings, id, name, project, display }: Sound,
  volumes: readonly string[],
  user: string,
): Environment {
  return environmentOf({
    name,
    nodeId: id,
    projectId: project.id,
    projectPath: project.path,
    adapters: settings.adapters,
    volumes,
    user,
    variables: project.variables,
    environment: settings.environment,
    extraHosts: settings.extra_hosts,
    ...(display === undefined ? {} : { display }),
  });
}

async function foundImage(
  { image, project }: Wanted & Identity,
  services: Services,
  { engine, pulls }: DockerHost,
): Promise<ImageInfo> {
  try {
    return await imageInfo(engine, image);
  } catch (error) {
    if (!(error instanceof EngineFailure) || error.status !== 404) throw error;
  }
  const wanted = { kind: 'pull', name: image, projectId: project.id };
  const tell = (message: string): void => services.events.emit('log.info', { message }, project.id);
  await services.operations.run(wanted, (operation) => pulls.pull(image, tell, operation));
  return imageInfo(engine, image);
}
