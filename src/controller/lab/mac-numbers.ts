// The numbers that the MAC addresses of virtual PCs are made of. Every compute counts for itself from 0; the controller, which knows all
// PCs of a lab, gives each one a number of its own.
import { withMacNumber } from '../../http/app/mac-number-header.ts';
import { freeMacNumber } from '../../pc/mac.ts';
import { nodeKind } from '../../store/node-kinds/kinds.ts';
import type { Node } from '../nodes/node.ts';
import type { Project } from './project.ts';

export class MacNumbers {
  readonly #projects: () => readonly Project[];
  /** Nodes that are being made, which their projects do not have as yet. */
  readonly #coming = new Map<Node, Project>();

  constructor(projects: () => readonly Project[]) {
    this.#projects = projects;
  }

  /** A number for a node that is being made, and the header that tells its compute. A node that is made again keeps its number. */
  atCreation(project: Project, node: Node): Record<string, string> {
    if (!nodeKind(node.type).macNumber) return {};
    node.macNumber ??= freeMacNumber(this.#taken(project, node));
    // A node that moves is there already.
    if (!project.nodes.has(node.id)) this.#coming.set(node, project);
    return withMacNumber(node.macNumber);
  }

  /** The node was not made. */
  release(node: Node): void {
    this.#coming.delete(node);
  }

  /** Takes what the compute says of the number out of its answer: a PC that has gone on running has its former one. */
  answered(project: Project, node: Node, { mac_number: number, ...object }: Record<string, unknown>) {
    if (!nodeKind(node.type).macNumber) return object;
    node.countsItself = typeof number !== 'number';
    // A compute of the release gives the lowest one that it has left in the project.
    node.macNumber = typeof number === 'number' ? number : freeMacNumber(this.#ofCompute(project, node));
    return object;
  }

  /** The header of a start. The number changes if another PC that may be reached has it meanwhile. */
  atStart(project: Project, node: Node): Record<string, string> {
    if (node.macNumber === undefined || node.countsItself) return {};
    const taken = this.#taken(project, node);
    if (node.status === 'stopped' && taken.includes(node.macNumber)) node.macNumber = freeMacNumber(taken);
    return withMacNumber(node.macNumber);
  }

  /** Of the PCs that frames of a node may reach: those of its lab, and of other labs if both lead out, where they may meet. */
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
