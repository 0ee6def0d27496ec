// The base class of all kinds of node.
import type { ComputeNode } from '../../api/objects.ts';
import { conflict, type Failure } from '../../failures.ts';
import type { ProcessLoad } from '../../host/processes/process-load.ts';
import type { Services } from '../services.ts';
import type { NodeProject } from './owner.ts';
import type { NodePort } from './ports/port.ts';

export type NodeStatus = 'stopped' | 'started' | 'suspended';

/** Why a pending start is cancelled. */
export type CancelReason = 'stopped' | 'removed';

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

  /** The node as in routes and events. */
  abstract describe(): ComputeNode;

  /**
   * The port with these numbers.
   * @throws Failure `conflict` if it does not exist
   */
  abstract port(adapter: number, port: number): NodePort;

  /** Stops the program and releases ports, cables and open files. The node's directory stays. */
  abstract close(): Promise<void>;

  /** For nodes that are always on. */
  async start(): Promise<void> {}
  async stop(): Promise<void> {}
  async suspend(): Promise<void> {}

  /** Its files outside its directory: `size` is the length, `bytes` the disk use. */
  async filesElsewhere(): Promise<{ path: string; size: number; bytes: number }[]> {
    return [];
  }

  /** The load of its own process; undefined if it has none. */
  load(): ProcessLoad | undefined {
    return undefined;
  }

  /** The project's variables have changed; most nodes do not use them. */
  async variablesChanged(): Promise<void> {}

  /** Makes a start that has not begun yet fail. Takes effect at once, whatever else is in progress. */
  cancelStart(_reason: CancelReason): void {}

  get status(): NodeStatus {
    return this.#currentStatus;
  }

  /** Every assignment is announced, even without a change. */
  set status(status: NodeStatus) {
    this.#currentStatus = status;
    this.announce();
  }

  /** The members that all kinds describe. */
  protected common(): ComputeNode {
    return { name: this.name, node_id: this.id, project_id: this.project.id, status: this.status };
  }

  /** Sends the node's present state to listeners. */
  announce(): void {
    this.services.events.emit('node.updated', this.describe(), this.project.id);
  }
}

/** A node's directory, relative to the project's. */
export function nodeDirectory(module: string, nodeId: string): string {
  return `project-files/${module}/${nodeId}`;
}

export function noSuchPort(node: Node, exception: string, adapter: number, port: number): Failure {
  return conflict(`${node.name} has no port ${adapter}/${port}: use one that it lists.`, { exception });
}
