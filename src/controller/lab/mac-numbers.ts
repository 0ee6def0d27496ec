// Assigns the numbers that MAC addresses of virtual PCs are derived from. Each compute counts from 0 on its own; the
// controller knows all PCs of a lab and gives each a different number.

import { nodeKind } from '../../api/kinds/kinds.ts';
import { withMacNumber } from '../../http/app/mac-number-header.ts';
import { freeMacNumber } from '../../pc/mac.ts';
import type { Node } from '../nodes/node.ts';
import type { Project } from './project.ts';

export class MacNumbers {
  readonly #projects: () => readonly Project[];
  /** Nodes that are being created and not yet in their projects. */
  readonly #coming = new Map<Node, Project>();

  constructor(projects: () => readonly Project[]) {
    this.#projects = projects;
  }

  /**
   * Assigns a number to a node that is being created and returns the header for its compute. A recreated node keeps its
   * number.
   */
  atCreation(project: Project, node: Node): Record<string, string> {
    if (!nodeKind(node.type).macNumber) return {};
    node.macNumber ??= freeMacNumber(this.#taken(project, node));
    // A moving node is already in the project.
    if (!project.nodes.has(node.id)) this.#coming.set(node, project);
    return withMacNumber(node.macNumber);
  }

  /** The creation failed. */
  release(node: Node): void {
    this.#coming.delete(node);
  }

  /** Takes the number out of the compute's answer. A reattached PC has its former number. */
  answered(project: Project, node: Node, { mac_number: number, ...object }: Record<string, unknown>) {
    if (!nodeKind(node.type).macNumber) return object;
    node.countsItself = typeof number !== 'number';
    // The release's compute assigns the lowest free number of the project itself.
    node.macNumber = typeof number === 'number' ? number : freeMacNumber(this.#ofCompute(project, node));
    return object;
  }

  /** The header of a start. The number changes if another reachable PC has it meanwhile. */
  atStart(project: Project, node: Node): Record<string, string> {
    if (node.macNumber === undefined || node.countsItself) return {};
    const taken = this.#taken(project, node);
    if (node.status === 'stopped' && taken.includes(node.macNumber)) node.macNumber = freeMacNumber(taken);
    return withMacNumber(node.macNumber);
  }

  /**
   * The numbers of PCs that a node's frames can reach: those of its lab, and of other labs if both labs are connected
   * to the outside.
   */
  #taken(project: Project, node: Node): number[] {
    const out = leadsOut(project);
    const reached = this.#projects().filter((other) => other === project || (out && leadsOut(other)));
    return this.#numbers(reached, node);
  }

  #ofCompute(project: Project, node: Node): number[] {
    return this.#numbers([project], node, ({ compute }) => compute === node.compute);
  }

  #numbers(projects: readonly Project[], beside: Node, isMeant: (node: Node) => boolean = () => true): number[] {
    for (const [node, project] of this.#coming) if (project.nodes.get(node.id) === node) this.release(node);
    const coming = [...this.#coming].filter(([, project]) => projects.includes(project)).map(([node]) => node);
    const numbers: number[] = [];
    for (const node of [...projects.flatMap(({ nodes }) => [...nodes.values()]), ...coming]) {
      if (node !== beside && node.macNumber !== undefined && isMeant(node)) numbers.push(node.macNumber);
    }
    return numbers;
  }
}

function leadsOut({ nodes }: Project): boolean {
  return nodes.values().some(({ type }) => nodeKind(type).leadsOut === true);
}
