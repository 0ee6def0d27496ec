// Assigns numbers that nodes of a kind must not share on a host, such as IOU application ids. The controller assigns
// them because it knows all open labs.

import { nodeKind } from '../../api/kinds/kinds.ts';
import type { NodeCreate } from '../../api/routes/nodes.ts';
import { conflict } from '../../failures.ts';
import type { Compute } from '../computes/compute.ts';
import type { Project } from './project.ts';

interface Given {
  compute: Compute;
  type: string;
  number: number;
}

export class HostNumbers {
  readonly #projects: () => readonly Project[];
  /** Numbers of nodes that are being created. */
  readonly #coming = new Set<Given>();

  constructor(projects: () => readonly Project[]) {
    this.#projects = projects;
  }

  /**
   * Assigns a number to a new node. The number is reserved until the result is disposed of; by then the project has the
   * node.
   * @param keeps keeps the present number if it is free; for reopened labs
   * @throws Failure `conflict` when all are taken
   */
  number(
    project: Project,
    compute: Compute,
    given: NodeCreate,
    { keeps }: { keeps: boolean },
  ): Disposable & { node: NodeCreate } {
    const { hostNumber } = nodeKind(given.node_type);
    if (hostNumber === undefined) return { node: given, [Symbol.dispose]: () => {} };
    const { property, least, most } = hostNumber;
    const used = this.#usedBeside(project, compute, given, property);
    const former = given.properties?.[property];
    let number = least;
    if (keeps && typeof former === 'number' && former >= least && former <= most && !used.has(former)) number = former;
    else while (used.has(number)) number += 1;
    if (number > most) {
      const message = `${property}: all numbers from ${least} to ${most} are taken by ${given.node_type} nodes of open projects; close one.`;
      throw conflict(message);
    }
    const coming = { compute, type: given.node_type, number };
    this.#coming.add(coming);
    return {
      node: { ...given, properties: { ...given.properties, [property]: number } },
      [Symbol.dispose]: () => void this.#coming.delete(coming),
    };
  }

  /** The numbers of all nodes of this type on the computes that the project uses. */
  #usedBeside(
    project: Project,
    compute: Compute,
    { node_type: type, node_id: id }: NodeCreate,
    property: string,
  ): Set<unknown> {
    const computes = new Set([compute, ...[...project.nodes.values()].map((node) => node.compute)]);
    const there = this.#projects()
      .flatMap(({ nodes }) => [...nodes.values()])
      .filter((node) => node.type === type && node.id !== id && computes.has(node.compute))
      .map(({ record }) => record.properties[property]);
    const coming = [...this.#coming].filter((one) => one.type === type && computes.has(one.compute));
    return new Set([...there, ...coming.map(({ number }) => number)]);
  }
}
