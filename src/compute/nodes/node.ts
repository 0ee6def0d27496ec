// What every kind of node has in common. A kind's folder adds what is special about it.
import type { ComputeNode } from '../../api/objects.ts';
import { Failure } from '../../failures.ts';
import type { ProcessLoad } from '../../host/processes/process-load.ts';
import type { Services } from '../services.ts';
import type { NodeProject } from './owner.ts';
import type { NodePort } from './ports/port.ts';

export type NodeStatus = 'stopped' | 'started' | 'suspended';

/** What befalls a node whose start is taken back. */
export type NodeEnd = 'stopped' | 'removed';

export interface NodeIdentity {
  readonly id: string;
  readonly project: NodeProject;
  readonly name: string;
}

export abstract class Node {
  readonly id: string;
  readonly project: NodeProject;
  name: string;
  protected readonly services: Services;
  #currentStatus: NodeStatus;

  constructor({ id, project, name }: NodeIdentity, services: Services, status: NodeStatus) {
    this.id = id;
    this.project = project;
    this.name = name;
    this.services = services;
    this.#currentStatus = status;
  }

  /** Name of the node's type in the API. */
  abstract readonly type: string;

  /** The node as routes answer it and events carry it. */
  abstract describe(): ComputeNode;

  /**
   * The port with these numbers.
   * @throws Failure `conflict` if the node has none
   */
  abstract port(adapter: number, port: number): NodePort;

  /** Stops what runs and gives back ports, cables and files; what is in the node's directory stays. */
  abstract close(): Promise<void>;

  /** Nodes that are always on do nothing here. */
  async start(): Promise<void> {}
  async stop(): Promise<void> {}
  async suspend(): Promise<void> {}

  /** What it has on the disks beside its directory, in bytes: `size` as long as it is, `bytes` as it takes. */
  async filesElsewhere(): Promise<{ path: string; size: number; bytes: number }[]> {
    return [];
  }

  /** What the process that it runs takes of this host; undefined when it runs none of its own. */
  load(): ProcessLoad | undefined {
    return undefined;
  }

  /** Its project has other variables now; most nodes are not configured with them. */
  async variablesChanged(): Promise<void> {}

  /** A start that has not begun yet is not wanted any more: it fails. Happens at once, whatever else is under way. */
  takeBackStart(_end: NodeEnd): void {}

  get status(): NodeStatus {
    return this.#currentStatus;
  }

  /** Every assignment is announced, even one without change. */
  set status(status: NodeStatus) {
    this.#currentStatus = status;
    this.announce();
  }

  /** Tells the listeners what the node looks like now. */
  announce(): void {
    this.services.events.emit('node.updated', this.describe(), this.project.id);
  }
}

/** Where a node's own files are, below the project's directory. */
export function nodeDirectory(module: string, nodeId: string): string {
  return `project-files/${module}/${nodeId}`;
}

/** The failure for numbers that a node has no port for. */
export function noSuchPort(node: Node, exception: string, adapter: number, port: number): Failure {
  return new Failure('conflict', `${node.name} has no port ${adapter}/${port}: use one that it lists.`, { exception });
}
