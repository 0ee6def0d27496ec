// The environment of a container: variables for its entry point, the project's variables, and the user's lines.
import type { Variables } from '../../../api/vocabulary.ts';
import { refusal } from './engine.ts';

export interface EnvironmentOptions {
  name: string;
  nodeId: string;
  projectId: string;
  projectPath: string;
  adapters: number;
  /** Paths of the volumes in the container. */
  volumes: readonly string[];
  /** The image's user; empty for root. */
  user: string;
  variables: Variables;
  environment: string | null;
  extraHosts: string | null;
  /** Of an X server, for a VNC console. */
  display?: number;
}

export interface Environment {
  /** `NAME=value` */
  words: string[];
  /** Lines that were left out, with the reason. */
  complaints: string[];
}

/** @throws Failure `conflict` (`DockerError`) for a line of `extra_hosts` that is not `name:address` */
export function environmentOf(options: EnvironmentOptions): Environment {
  const { adapters, volumes, user, display } = options;
  const variables = valuesOf(options.variables);
  const words = ['container=docker'];
  if (adapters > 0) words.push(`GNS3_MAX_ETHERNET=eth${adapters - 1}`);
  words.push(`GNS3_VOLUMES=${volumes.join(':')}`);
  if (user !== '') words.push(`GNS3_USER=${user}`);
  words.push(...[...variables].map(([name, value]) => `${name}=${value}`));
  const complaints: string[] = [];
  for (const line of linesOf(options.environment)) {
    const filled = withVariables(withPlaceholders(line, options), variables);
    if (filled.startsWith('GNS3_')) continue;
    if (/^\s*(=|$)/.test(filled)) complaints.push(`environment: the line ${JSON.stringify(line)} names no variable.`);
    else words.push(filled);
  }
  if (display !== undefined) words.push('QT_GRAPHICSSYSTEM=native', `DISPLAY=:${display}`);
  const hosts = hostsOf(options.extraHosts);
  if (hosts !== '') words.push(`GNS3_EXTRA_HOSTS=${hosts}`);
  return { words, complaints };
}

function linesOf(text: string | null): string[] {
  return (text ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

function withPlaceholders(line: string, { name, nodeId, projectId, projectPath }: EnvironmentOptions): string {
  return line
    .replaceAll('%vm-name%', () => `"${name.replaceAll('"', '\\"')}"`)
    .replaceAll('%vm-id%', nodeId)
    .replaceAll('%project-id%', projectId)
    .replaceAll('%project-path%', () => `"${projectPath.replaceAll('"', '\\"')}"`);
}

/** The values of project variables, which may refer to other ones. */
function valuesOf(variables: Variables): Map<string, string> {
  const plain = new Map((variables ?? []).map(({ name, value }) => [name, value ?? '']));
  // One pass is enough for references to plain values, and also ends circular ones.
  return new Map([...plain].map(([name, value]) => [name, withVariables(value, plain)]));
}

function withVariables(text: string, variables: ReadonlyMap<string, string>): string {
  return text.replace(/\$\{([^}]+)\}/g, (whole, name: string) => variables.get(name) ?? whole);
}

/** Lines of /etc/hosts. */
function hostsOf(extraHosts: string | null): string {
  return linesOf(extraHosts)
    .map((line) => {
      const parts = line.split(':').map((part) => part.trim());
      const [name = '', address = ''] = parts;
      if (parts.length === 2 && name !== '' && address !== '') return `${address}\t${name}`;
      throw refusal(`extra_hosts: ${JSON.stringify(line)} must be such as server:10.0.0.1.`);
    })
    .join('\n');
}
