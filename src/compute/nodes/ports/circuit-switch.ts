// A switch of virtual circuits as a node; Frame Relay and ATM switches differ in how a circuit's ends are written (as in release 2.2.57).
import * as v from 'valibot';
import type { MemoryDevice } from '../../../fabric/fabric.ts';
import type { Settings } from '../../../fabric/model.ts';
import { Failure } from '../../../failures.ts';
import { AnyObject, type NodeType, Text, Uuid } from '../../../store/vocabulary.ts';
import type { Services } from '../../services.ts';
import { defineKind, type NodeKind } from '../kind.ts';
import { Node, type NodeIdentity } from '../node.ts';
import { MemoryPorts } from './memory-ports.ts';
import { type Nio, SWITCH_NIOS } from './nio.ts';
import { NodePort, type PortRules } from './port.ts';

/** These switches are a part of Dynamips in the release; clients know its name. */
const PORT_RULES: PortRules = { exception: 'DynamipsError', nios: SWITCH_NIOS };

type DeviceName = 'frame-relay-switch' | 'atm-switch';
type Circuits<Name extends DeviceName> = Settings<Name>['circuits'];
type Mappings = Readonly<Record<string, unknown>>;

export interface CircuitSwitchRules<Name extends DeviceName> {
  /** Name of the node's type in the API. */
  readonly type: NodeType;
  readonly device: Name;
  /** How an end is written, for messages: `"<port>:<DLCI>"`. */
  readonly form: string;
  /** The end, or undefined when it is not written so. */
  parse(end: string): Circuits<Name>[number][0] | undefined;
  /** Whether two ends make a circuit. */
  match(one: Circuits<Name>[number][0], other: Circuits<Name>[number][0]): boolean;
}

/**
 * The circuits that the mappings stand for.
 * @throws Failure `conflict` that names the entry
 */
function circuitsOf<Name extends DeviceName>(rules: CircuitSwitchRules<Name>, mappings: Mappings): Circuits<Name> {
  const refuse = (entry: string, why: string): Failure => {
    const message = `mappings: ${entry} ${why}; write each end of a circuit as ${rules.form}.`;
    return new Failure('conflict', message, { exception: PORT_RULES.exception });
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

  /** Any number has a port, whether a circuit uses it or not. */
  override port(adapter: number, number: number): NodePort {
    return this.#ports.port(adapter, number);
  }

  /**
   * New mappings are taken as they are while nothing is plugged in: they are read when a NIO is attached, as in the release.
   * Where there are NIOs, their circuits change at once.
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

/** A port whose NIO brings the circuits into effect. */
class CircuitPort extends NodePort {
  readonly #apply: () => Promise<void>;

  constructor(apply: () => Promise<void>, parts: ConstructorParameters<typeof NodePort>) {
    super(...parts);
    this.#apply = apply;
  }

  /** As every port. @throws Failure `conflict` as well when a mapping is no circuit */
  override async attach(wanted: Nio): Promise<void> {
    await this.#apply();
    await super.attach(wanted);
  }
}

const CircuitSwitchCreate = v.strictObject({
  name: Text,
  node_id: v.optional(Uuid),
  mappings: v.optional(AnyObject, {}),
});

/** Identifiers and status may be sent along; they change nothing. */
const CircuitSwitchUpdate = v.strictObject({
  name: v.optional(Text),
  node_id: v.optional(Uuid),
  project_id: v.optional(Uuid),
  mappings: v.optional(AnyObject),
  status: v.optional(v.picklist(['started', 'stopped', 'suspended'])),
});

/** A kind of node that is such a switch: always on, ports as its circuits need them, no console, no files of its own. */
export function circuitSwitch<Name extends DeviceName>(rules: CircuitSwitchRules<Name>): NodeKind {
  return defineKind({
    type: rules.type,
    module: undefined,
    ...PORT_RULES,
    create: CircuitSwitchCreate,
    update: CircuitSwitchUpdate,
    startAnswersNode: false,
    updatesNio: false,

    async make(identity, { mappings }, services) {
      const none = { circuits: [] } as Settings<Name>;
      const device = await services.fabric.createDevice(rules.device, none, undefined, identity.project.id);
      return new CircuitSwitchNode(identity, services, rules, device, mappings);
    },

    change: (node: CircuitSwitchNode<Name>, body) => node.change(body),

    // Its mappings were given to the copy when that was created, and it has no files.
    async duplicate() {},
  });
}
