// The Ethernet switch node. Its ports are in the fabric; frames never pass here.

import { isDeepStrictEqual } from 'node:util';
import type { EthernetSwitchCreate, EthernetSwitchUpdate, SwitchPort } from '../../../api/kinds/ethernet-switches.ts';
import type { MacTableRow } from '../../../api/routes/compute-nodes.ts';
import type { Console } from '../../../consoles/console.ts';
import type { MemoryDevice } from '../../../fabric/fabric.ts';
import type { Settings } from '../../../fabric/model.ts';
import { conflict } from '../../../failures.ts';
import type { Connected } from '../../../http/app/route.ts';
import { ConsoleEndpoint } from '../../nodes/consoles/console-endpoint.ts';
import { allOrNothing } from '../../nodes/lifecycle/all-or-nothing.ts';
import { Node, type NodeIdentity } from '../../nodes/node.ts';
import { MemoryPorts } from '../../nodes/ports/memory-ports.ts';
import { SWITCH_NIOS } from '../../nodes/ports/nio.ts';
import type { NodePort, PortRules } from '../../nodes/ports/port.ts';
import { defaultPorts, numbered, stillConnected } from '../../nodes/ports/ports-mapping.ts';
import type { Services } from '../../services.ts';
import type { PortRow } from './console.ts';
import { SwitchConsole } from './console.ts';

/** Switches are part of Dynamips in the release; clients recognise its name. */
export const PORT_RULES: PortRules = { exception: 'DynamipsError', nios: SWITCH_NIOS };

const DEFAULT_VLAN = 1;
const DEFAULT_ETHER_TYPE = '0x8100';
/** Milliseconds after which an address without new frames is dropped (IEEE 802.1Q, table 8-6: 300 s). */
const AGEING_MS = 300_000;

/** The fabric's settings for the ports. */
function settingsOf(mapping: readonly SwitchPort[]): Settings<'ethernet-switch'> {
  const ports = mapping.map(({ port_number, type, vlan, ethertype }) => ({
    number: port_number,
    type,
    vlan: vlan ?? DEFAULT_VLAN,
    etherType: Number(ethertype || DEFAULT_ETHER_TYPE),
  }));
  return { ports, ageing: AGEING_MS };
}

function macAddress(address: number): string {
  return address
    .toString(16)
    .padStart(12, '0')
    .replace(/..(?!$)/g, '$&:');
}

interface SwitchParts {
  mapping: SwitchPort[];
  device: MemoryDevice<'ethernet-switch'>;
}

type ConsoleType = NonNullable<EthernetSwitchUpdate['console_type']>;

export class SwitchNode extends Node {
  readonly type = 'ethernet_switch';
  readonly #device: MemoryDevice<'ethernet-switch'>;
  readonly #ports: MemoryPorts;
  /** Its port is reserved for every type, and served if the type is telnet. */
  readonly #endpoint: ConsoleEndpoint;
  #mapping: SwitchPort[];
  #consoleType: ConsoleType = 'none';
  #console: SwitchConsole | undefined;

  private constructor(identity: NodeIdentity, services: Services, { mapping, device }: SwitchParts) {
    super(identity, services, 'started');
    this.#device = device;
    this.#ports = new MemoryPorts(this, PORT_RULES, services, device);
    this.#mapping = mapping;
    const { exception } = PORT_RULES;
    this.#endpoint = new ConsoleEndpoint({ node: this, exception, services, type: 'telnet' });
  }

  /** A given mapping is taken unchanged. */
  static async create(identity: NodeIdentity, body: EthernetSwitchCreate, services: Services): Promise<SwitchNode> {
    const mapping = body.ports_mapping ?? defaultPorts({ type: 'access' as const, vlan: DEFAULT_VLAN });
    const { id: projectId } = identity.project;
    await using undo = new AsyncDisposableStack();
    const full = (): void => {
      const message = `The MAC table of ${node.name} is full: addresses that it cannot learn are flooded.`;
      services.events.emit('log.warning', { message }, projectId);
    };
    const device = await services.fabric.createDevice('ethernet-switch', settingsOf(mapping), full, projectId);
    undo.defer(() => device.close());
    const node = new SwitchNode(identity, services, { mapping, device });
    undo.defer(() => node.#endpoint.release());
    await node.#endpoint.change('telnet', body.console ?? undefined);
    await node.#changeConsole(body.console_type);
    undo.move();
    return node;
  }

  override describe() {
    return {
      ...this.common(),
      ports_mapping: this.#mapping,
      console: this.#endpoint.port,
      console_type: this.#consoleType,
    };
  }

  /** A port exists for every number. Without an entry in `ports_mapping` it is an access port of VLAN 1. */
  override port(adapter: number, number: number): NodePort {
    return this.#ports.port(adapter, number);
  }

  /**
   * @throws Failure `conflict` if the number of ports changes while a NIO is attached, or the console's port is not
   * available
   */
  change({ name, ports_mapping, console_type }: EthernetSwitchUpdate): Promise<void> {
    return allOrNothing(async ({ undo }) => {
      if (ports_mapping !== undefined) await this.#changePorts(ports_mapping, undo);
      if (console_type !== undefined) await this.#changeConsole(console_type);
      this.name = name ?? this.name;
      this.#console?.rename(this.name);
    });
  }

  /** @throws Failure `conflict` with console type `none` */
  connectConsole(): Console {
    if (this.#console) return this.#endpoint.connect();
    throw conflict(`${this.name} has no console; set console_type to telnet.`, { exception: PORT_RULES.exception });
  }

  /** @throws Failure `conflict` with console type `none` */
  connectConsolePort(): Promise<Connected> {
    return this.#endpoint.connectPort();
  }

  resetConsole(): Promise<void> {
    return this.#endpoint.reset();
  }

  /** In order of VLAN and address. */
  async macTable(): Promise<MacTableRow[]> {
    const entries = await this.#device.ask('macTable');
    entries.sort((one, other) => one.vlan - other.vlan || one.address - other.address);
    return entries.map(({ vlan, address, port, age }) => ({
      vlan,
      mac_address: macAddress(address),
      port_number: port,
      port_name: this.#portName(port),
      age: Math.floor(age / 1000),
    }));
  }

  async clearMacTable(): Promise<void> {
    await this.#device.tell({ kind: 'clear' });
  }

  /** Those of `ports_mapping`, and others that have a link. */
  async listPorts(): Promise<PortRow[]> {
    const listed = new Set(this.#mapping.map(({ port_number }) => port_number));
    const unlisted = this.#ports.connected
      .filter((number) => !listed.has(number))
      .map((number): SwitchPort => ({ name: this.#portName(number), port_number: number, type: 'access' }));
    return Promise.all(
      [...this.#mapping, ...unlisted].map(async (port) => ({
        ...port,
        vlan: port.vlan ?? DEFAULT_VLAN,
        statistics: await this.#ports.known(port.port_number)?.statistics(),
      })),
    );
  }

  override async close(): Promise<void> {
    await this.#changeConsole('none');
    await this.#ports.close();
    await this.#device.close();
    this.#endpoint.release();
  }

  #portName(number: number): string {
    return this.#mapping.find(({ port_number }) => port_number === number)?.name ?? `Ethernet${number}`;
  }

  async #changePorts(wanted: SwitchPort[], undo: AsyncDisposableStack): Promise<void> {
    const before = this.#mapping;
    if (isDeepStrictEqual(wanted, before)) return;
    if (wanted.length !== before.length && this.#ports.connected.length > 0) throw stillConnected(this.name);
    undo.defer(() => this.#setPorts(before));
    await this.#setPorts(numbered(wanted));
  }

  async #setPorts(mapping: SwitchPort[]): Promise<void> {
    await this.#device.configure(settingsOf(mapping));
    this.#mapping = mapping;
  }

  async #changeConsole(type: ConsoleType): Promise<void> {
    if (type === 'none') {
      await this.#endpoint.stop('the console was closed');
      this.#console = undefined;
    } else if (this.#console === undefined) {
      const shell = new SwitchConsole(this);
      await this.#endpoint.serve(shell.console);
      this.#console = shell;
    }
    this.#consoleType = type;
  }
}
