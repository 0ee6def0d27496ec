// The cloud node: its ports lead out of the lab, to interfaces of this host and to UDP tunnels.
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type CloudCreate, type CloudPort, type CloudUpdate, remoteConsole } from '../../../api/kinds/cloud.ts';
import { defaultsOf } from '../../../api/kinds/property.ts';
import { conflict } from '../../../failures.ts';
import { interfaceNames, interfaceType, isSpecialInterface } from '../../../host/network/interfaces.ts';
import { type NodeIdentity, nodeDirectory } from '../../nodes/node.ts';
import type { Services } from '../../services.ts';
import { uplinkSpec } from '../../uplinks/opening.ts';
import { UplinkNode } from '../../uplinks/uplink-node.ts';
import type { UplinkSpec } from '../../uplinks/uplink-port.ts';
import { PORT_RULES } from '../../uplinks/uplink-ports.ts';

export const MODULE = 'builtin';

type RemoteConsole = Required<
  Pick<CloudCreate, 'remote_console_host' | 'remote_console_port' | 'remote_console_type' | 'remote_console_http_path'>
>;

interface HostInterface {
  name: string;
  type: 'ethernet' | 'tap';
  special: boolean;
}

export class CloudNode extends UplinkNode {
  readonly type = 'cloud';
  #remoteConsole: RemoteConsole;
  #mapping: readonly CloudPort[];
  /** UDP ports of tunnels that were free, reserved so that no cable gets them. */
  #claimed: ReadonlySet<number> = new Set();

  private constructor(identity: NodeIdentity, body: CloudCreate, services: Services, hiddenPort: number) {
    super(identity, services, hiddenPort);
    this.#remoteConsole = defaultsOf(remoteConsole, identity.id);
    this.#changeConsole(body);
    this.#mapping = this.#numbered(body.ports_mapping ?? []);
  }

  static async create(identity: NodeIdentity, body: CloudCreate, services: Services): Promise<CloudNode> {
    const hiddenPort = await services.ports.console.reserve(identity.project.id);
    const node = new CloudNode(identity, body, services, hiddenPort);
    await using undo = new AsyncDisposableStack();
    undo.defer(() => node.close());
    await node.#claimTunnels(node.#mapping);
    undo.move();
    return node;
  }

  protected override specOf(number: number): UplinkSpec | undefined {
    const entry = this.#mapping[number];
    return entry && uplinkSpec(entry, this.services, { projectId: this.project.id, nodeId: this.id });
  }

  override describe() {
    return {
      ...this.common(),
      ...this.#remoteConsole,
      ports_mapping: this.#mapping,
      interfaces: this.#interfaces(),
      node_directory: join(this.project.path, nodeDirectory(MODULE, this.id)),
    };
  }

  /** @throws Failure `conflict` if the ports change while a NIO is attached */
  async change({ name, ports_mapping, ...body }: CloudUpdate): Promise<void> {
    if (ports_mapping !== undefined) await this.#changePorts(this.#numbered(ports_mapping));
    this.name = name ?? this.name;
    this.#changeConsole(body);
  }

  #changeConsole(body: Omit<CloudUpdate, 'name'>): void {
    for (const member of Object.keys(this.#remoteConsole) as (keyof RemoteConsole)[]) {
      if (body[member] !== undefined) this.#remoteConsole = { ...this.#remoteConsole, [member]: body[member] };
    }
  }

  override async close(): Promise<void> {
    await super.close();
    this.#releaseTunnels();
  }

  async #changePorts(wanted: readonly CloudPort[]): Promise<void> {
    if (isDeepStrictEqual(wanted, this.#mapping)) return;
    if (this.ports.connected) {
      const message = `ports_mapping: ${this.name} is connected; remove its links before its ports change.`;
      throw conflict(message, { exception: PORT_RULES.exception });
    }
    await this.#claimTunnels(wanted);
    this.#mapping = wanted;
    await this.ports.close();
  }

  /** A port in use may have been reserved for this very tunnel: its NIO reports a real conflict. */
  async #claimTunnels(wanted: readonly CloudPort[]): Promise<void> {
    const { udp } = this.services.ports;
    const { id } = this.project;
    const before = this.#claimed;
    const after = new Set<number>();
    await using undo = new AsyncDisposableStack();
    for (const entry of wanted) {
      if (entry.type !== 'udp') continue;
      const { lport } = entry;
      if (before.has(lport)) after.add(lport);
      else if (await udp.claim(id, lport)) {
        undo.defer(() => udp.release(id, lport));
        after.add(lport);
      }
    }
    undo.move();
    for (const port of before) if (!after.has(port)) udp.release(id, port);
    this.#claimed = after;
  }

  #releaseTunnels(): void {
    for (const port of this.#claimed) this.services.ports.udp.release(this.project.id, port);
    this.#claimed = new Set();
  }

  /** The ports numbered by their position in the list. If it is empty, one for each interface that is not special. */
  #numbered(mapping: readonly CloudPort[]): readonly CloudPort[] {
    const given = mapping.length > 0 ? mapping : this.#interfacePorts();
    return given.map((entry, port_number) => ({ ...entry, port_number }));
  }

  #interfacePorts(): readonly CloudPort[] {
    return this.#interfaces()
      .filter(({ special }) => !special)
      .map(({ name, type }) => ({ name, port_number: 0, type, interface: name }));
  }

  #interfaces(): HostInterface[] {
    return interfaceNames(this.services.config.Server.allowed_interfaces).map((name) => ({
      name,
      type: interfaceType(name),
      special: isSpecialInterface(name),
    }));
  }
}
