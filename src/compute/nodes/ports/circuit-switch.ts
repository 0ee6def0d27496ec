// A node that switches virtual circuits. Frame Relay and ATM switches differ in the notation of a circuit's ends (as in
// release 2.2.57).
import { CircuitSwitchCreate, CircuitSwitchUpdate } from '../../../api/kinds/circuit-switches.ts';
import type { Nio } from '../../../api/routes/compute-nodes.ts';
import type { NodeType } from '../../../api/vocabulary.ts';
import type { MemoryDevice } from '../../../fabric/fabric.ts';
import type { Settings } from '../../../fabric/model.ts';
import { conflict, type Failure } from '../../../failures.ts';
import type { Services } from '../../services.ts';
import { defineKind, type NodeKind } from '../kind.ts';
import { Node, type NodeIdentity } from '../node.ts';
import { MemoryPorts } from './memory-ports.ts';
import { SWITCH_NIOS } from './nio.ts';
import { NodePort, type PortRules } from './port.ts';

/** These switches are part of Dynamips in the release; clients recognise its name. */
const PORT_RULES: PortRules = { exception: 'DynamipsError', nios: SWITCH_NIOS };

type DeviceName = 'frame-relay-switch' | 'atm-switch';
type Circuits<Name extends DeviceName> = Settings<Name>['circuits'];
type Mappings = Readonly<Record<string, unknown>>;

export interface CircuitSwitchRules<Name extends DeviceName> {
  /** Name of the node's type in the API. */
  readonly type: NodeType;
  readonly device: Name;
  /** Notation of an end, for messages: `"<port>:<DLCI>"`. */
  readonly form: string;
  /** The end, or undefined if the text is invalid. */
  parse(end: string): Circuits<Name>[number][0] | undefined;
  /** Whether two ends make a circuit. */
  match(one: Circuits<Name>[number][0], other: Circuits<Name>[number][0]): boolean;
}

/**
 * Parses the mappings.
 * @throws Failure `conflict` that names the entry
 */
function circuitsOf<Name extends DeviceName>(rules: CircuitSwitchRules<Name>, mappings: Mappings): Circuits<Name> {
  const refuse = (entry: string, why: string): Failure => {
    const message = `mappings: ${entry} ${why}; write each end of a circuit as ${rules.form}.`;
    return conflict(message, { exception: PORT_RULES.exception });
  };
  const seen = new Set<string>();
  const circuits = Object.entries(mappings).map(([from, to]) => {
    const entry = `${JSON.stringify(from)}: ${JSON.stringify(to)}`;
    const ends = [from, to].map((end) => (typeof end === 'string' ? rules.parse(end) : undefined));
    const [one, other] = ends;
    if (one === undefined || other === undefined || !rules.match(one, other)) throw refuse(entry, 'is no circuit');
    for (const end of ends) {
      const key = JSON.stringify(end);
      if (seen.has(key)) throw refuse(entry, 'has an end that another circuit has already');
      seen.add(key);
    }
    return [one, other] as const;
  });
  return circuits as unknown as Circuits<Name>;
}

class CircuitSwitchNode<Name extends DeviceName> extends Node {
  readonly type: string;
  readonly #rules: CircuitSwitchRules<Name>;
  readonly #device: MemoryDevice<Name>;
  readonly #ports: MemoryPorts;
  #mappings: Mappings;

  constructor(
    identity: NodeIdentity,
    services: Services,
    rules: CircuitSwitchRules<Name>,
    device: MemoryDevice<Name>,
    mappings: Mappings,
  ) {
    super(identity, services, 'started');
    this.type = rules.type;
    this.#rules = rules;
    this.#device = device;
    this.#mappings = mappings;
    const apply = (): Promise<void> => this.#apply(this.#mappings);
    this.#ports = new MemoryPorts(this, PORT_RULES, services, device, (...parts) => new CircuitPort(apply, parts));
  }

  override describe() {
    return {
      name: this.name,
      node_id: this.id,
      project_id: this.project.id,
      mappings: this.#mappings,
      status: this.status,
    };
  }

  /** A port exists for every number, whether a circuit uses it or not. */
  override port(adapter: number, number: number): NodePort {
    return this.#ports.port(adapter, number);
  }

  /**
   * Without NIOs, new mappings are stored unchecked: they are parsed when a NIO is attached, as in the release. With
   * NIOs, their circuits change at once.
   * @throws Failure `conflict` that names the entry
   */
  async change({ name, mappings }: { name?: string | undefined; mappings?: Mappings | undefined }): Promise<void> {
    if (mappings !== undefined) {
      if (this.#ports.connected.length > 0) await this.#apply(mappings);
      this.#mappings = mappings;
    }
    this.name = name ?? this.name;
  }

  override async close(): Promise<void> {
    await this.#ports.close();
    await this.#device.close();
  }

  async #apply(mappings: Mappings): Promise<void> {
    await this.#device.configure({ circuits: circuitsOf(this.#rules, mappings) } as Settings<Name>);
  }
}

/** A port whose NIO activates the circuits. */
class CircuitPort extends NodePort {
  readonly #apply: () => Promise<void>;

  constructor(apply: () => Promise<void>, parts: ConstructorParameters<typeof NodePort>) {
    super(...parts);
    this.#apply = apply;
  }

  /** As every port. @throws Failure `conflict` also if a mapping is invalid */
  override async attach(wanted: Nio): Promise<void> {
    await this.#apply();
    await super.attach(wanted);
  }
}

/** A kind of node that is such a switch: always on, ports as its circuits need them, no console, no files. */
export function circuitSwitch<Name extends DeviceName>(rules: CircuitSwitchRules<Name>): NodeKind {
  return defineKind({
    type: rules.type,
    ...PORT_RULES,
    create: CircuitSwitchCreate,
    update: CircuitSwitchUpdate,

    async make(identity, { mappings }, services) {
      const none = { circuits: [] } as Settings<Name>;
      const device = await services.fabric.createDevice(rules.device, none, undefined, identity.project.id);
      return new CircuitSwitchNode(identity, services, rules, device, mappings);
    },

    change: (node: CircuitSwitchNode<Name>, body) => node.change(body),

    // The copy got its mappings at its creation, and there are no files.
    async duplicate() {},
  });
}
