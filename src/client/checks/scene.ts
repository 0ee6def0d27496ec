// The lab under test, by the names of its file. Only one check at a time types at a console.
import type { LinkObject, NodeObject, ProjectObject } from '../../api/objects.ts';
import { conflict, Failure, notFound } from '../../failures.ts';
import { KeyedLock } from '../../host/values/keyed-lock.ts';
import { Slots } from '../../host/values/slots.ts';
import { usableConsole } from '../console/console-socket.ts';
import { lastWords, lineWith, listenFor, talk } from '../console/console-talk.ts';
import type { Session } from '../frame/session.ts';
import { nodeKey } from '../labfile/model.ts';
import type { Expected } from '../labfile/schema.ts';
import { findLink } from '../server/link-ends.ts';
import type { Clock, Look } from './observation.ts';

/** Consoles that are typed at at the same time. */
const MOST_TALKS = 16;

export class Scene {
  readonly session: Session;
  readonly lab: ProjectObject;
  readonly #turns = new KeyedLock();
  readonly #slots = new Slots(MOST_TALKS);

  constructor(session: Session, lab: ProjectObject) {
    this.session = session;
    this.lab = lab;
  }

  get path(): string {
    return `/v2/projects/${this.lab.project_id}`;
  }

  /**
   * The node's current state.
   * @throws Failure unless it runs
   */
  async running(name: string): Promise<NodeObject> {
    const node = (await this.session.nodes(this.lab)).find((one) => nodeKey(one.name) === nodeKey(name));
    if (!node) throw notFound(`the lab has no node "${name}"`);
    if (node.status !== 'started') throw conflict(`"${name}" is ${node.status}`);
    return node;
  }

  /** The link of this text, `PC1:e0 -- SW1:e1`, or at this end. @throws Failure */
  async link(text: string): Promise<LinkObject> {
    const [nodes, links] = await Promise.all([
      this.session.nodes(this.lab),
      this.session.api.get<LinkObject[]>(`${this.path}/links`),
    ]);
    const [first = '', second] = text.split(/\s+--\s+/).map(nodeKey);
    if (second === undefined) return findLink(nodes, links, first);
    const others = links.filter((link) => isAt(nodes, link, first));
    return findLink(nodes, others, second);
  }

  /**
   * The node's output for this line typed at its console.
   * @param most seconds; those that are left, unless given
   * @throws Failure if it does not run or the output does not end
   */
  async ask(name: string, line: string, clock: Clock, most?: number): Promise<string> {
    const node = await this.running(name);
    usableConsole(this.session, node);
    let said = '';
    const hear = (text: string): void => {
      said += text;
    };
    const run = clock.stop();
    // Two that type at one console would mix their lines.
    return this.#turns.run(node.node_id, async () => {
      using _slot = await this.#slots.take();
      run();
      const options = { line, seconds: most ?? clock.left, hear, interrupts: true };
      try {
        await talk(this.session, this.#console(node), options);
      } catch (error) {
        // The output until then may be enough.
        if (!(error instanceof Failure) || error.code !== 'time-out') throw error;
      }
      return said;
    });
  }

  /** Checks a console: all of its output, or the output of a line. */
  async lookAtConsole(
    name: string,
    { expect, send }: { expect: Expected; send: string | undefined },
    clock: Clock,
  ): Promise<Look> {
    const wanted = expressionOf(expect);
    if (send !== undefined) {
      const said = await this.ask(name, send, clock);
      const line = lineWith(said, wanted);
      if (line !== undefined) return { passed: true, seen: line };
      return { passed: false, seen: `${wordsOf(expect)} is not in the answer${ofLast(lastWords(said))}` };
    }
    const node = await this.running(name);
    usableConsole(this.session, node);
    const { line, last } = await listenFor(this.session, this.#console(node), { wanted, seconds: clock.left });
    if (line !== undefined) return { passed: true, seen: line };
    return { passed: false, seen: `the console has not said ${wordsOf(expect)}${ofLast(last)}` };
  }

  #console(node: NodeObject): string {
    return `${this.path}/nodes/${node.node_id}/console/ws`;
  }
}

function isAt(nodes: readonly NodeObject[], link: LinkObject, end: string): boolean {
  try {
    return findLink(nodes, [link], end) === link;
  } catch {
    return false;
  }
}

function expressionOf(expected: Expected): RegExp {
  if (typeof expected !== 'string') return new RegExp(expected.regex, 'm');
  return new RegExp(expected.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
}

/** As people read it. */
export function wordsOf(expected: Expected): string {
  return typeof expected === 'string' ? `"${expected}"` : `/${expected.regex}/`;
}

const ofLast = (words: string): string => (words === '' ? '; it says nothing' : `; its last words are "${words}"`);
