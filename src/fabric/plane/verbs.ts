// Carries out the main thread's requests in the worker. Each is done completely or not at all.

import { conflict, unavailable } from '../../failures.ts';
import { releaseMemory } from '../../host/processes/memory.ts';
import { familyOf, SystemError, trimAllocator } from '../../host/system-calls.ts';
import type {
  CableImpairments,
  Drops,
  InterfaceAddress,
  InterfaceChange,
  InterfaceState,
  PacketAddress,
  UdpAddress,
} from '../model.ts';
import type { Verb, Verbs, WireDevice } from '../protocol.ts';
import { add, noTotals } from '../totals.ts';
import { Cables, type UdpConnection } from './cables.ts';
import { Capture } from './capture.ts';
import type { FramePlane } from './frame-plane.ts';
import type { InterfaceEndpoint } from './interface-endpoint.ts';
import { interfaceFailure } from './interface-failure.ts';
import type { MemoryDevice } from './memory-device.ts';
import { makeDevice } from './memory-devices.ts';
import type { PlainEntry } from './plain-routes.ts';
import { Connection, type Device, Port } from './port.ts';
import { Schedule } from './schedule.ts';
import { type Deliver, UdpEndpoint } from './udp-endpoint.ts';

/** How long (ms) V8's threads need to free memory after a collection. */
const SWEEPING_MS = 1_000;

/** Sends a message of a device in memory or a port to the main thread. */
type TellMain = (device: number, message: unknown) => void;

type Handlers = { [V in Verb]: (body: Verbs[V]['takes']) => Verbs[V]['gives'] };

/** The failure for a UDP socket that cannot be opened. */
function socketFailure(error: unknown, { localPort, remoteHost }: UdpAddress): unknown {
  if (!(error instanceof SystemError)) return error;
  const details = { cause: error };
  switch (error.code) {
    case 'EADDRINUSE':
      return conflict(`UDP port ${localPort} is already in use by another program or node`, details);
    case 'EACCES':
      if (error.call !== 'bind') break;
      return conflict(`UDP port ${localPort} is reserved for privileged programs`, details);
    case 'ENETUNREACH':
    case 'EHOSTUNREACH':
      return conflict(`This host has no route to ${remoteHost}`, details);
    case 'EMFILE':
    case 'ENFILE':
      return unavailable('Too many open files; raise LimitNOFILE of the service', details);
  }
  return conflict(`UDP port ${localPort} to ${remoteHost} cannot be opened: ${error.message}`, details);
}

/** The bind address of a device's socket: loopback for a local program, so that it is not reachable from outside. */
function localHost({ remoteHost }: UdpAddress): string {
  if (remoteHost.startsWith('127.')) return '127.0.0.1';
  if (remoteHost === '::1') return remoteHost;
  return familyOf(remoteHost) === 6 ? '::' : '0.0.0.0';
}

export class FabricVerbs implements Handlers {
  readonly #plane: FramePlane;
  readonly #cables: Cables;
  readonly #tell: TellMain;
  readonly #devices = new Map<number, MemoryDevice>();
  readonly #ports = new Map<number, Port>();
  /** Totals of closed ports and captures. */
  readonly #past = noTotals();
  stopped = false;

  constructor(plane: FramePlane, tell: TellMain) {
    this.#plane = plane;
    this.#tell = tell;
    this.#cables = new Cables(plane.calls);
  }

  createDevice({ device: id, ...settings }: Verbs['createDevice']['takes']): undefined {
    this.#devices.set(
      id,
      makeDevice(settings, this.#plane, (message) => this.#tell(id, message)),
    );
  }

  configureDevice({ device, settings }: Verbs['configureDevice']['takes']): undefined {
    this.#plane.changed();
    this.#device(device).configure(settings);
  }

  askDevice({ device, question }: Verbs['askDevice']['takes']): unknown {
    const answers = this.#device(device).answers as Readonly<Record<string, () => unknown>>;
    return answers[question]!();
  }

  tellDevice({ device, message }: Verbs['tellDevice']['takes']): undefined {
    this.#device(device).hear(message as never);
  }

  closeDevice({ device }: Verbs['closeDevice']['takes']): undefined {
    this.#plane.changed();
    this.#device(device).close();
    this.#devices.delete(device);
  }

  createPort({ port: id, device, group }: Verbs['createPort']['takes']): undefined {
    using undo = new DisposableStack();
    const port = new Port(this.#plane, group);
    undo.defer(() => port.release());
    if (device !== null) this.#giveDevice(id, port, device);
    undo.move();
    this.#ports.set(id, port);
  }

  closePort({ port: id }: Verbs['closePort']['takes']): undefined {
    const port = this.#port(id);
    this.stopCapture({ port: id });
    this.#plane.kernelLinks?.divert(port);
    add(this.#past, port.statistics());
    this.#unplug(port);
    port.removeDevice();
    port.release();
    this.#ports.delete(id);
  }

  setDevice({ port: id, device }: Verbs['setDevice']['takes']): undefined {
    const port = this.#port(id);
    this.#plane.kernelLinks?.divert(port);
    this.#plane.changed();
    port.removeDevice();
    if (device !== null) this.#giveDevice(id, port, device);
  }

  connect({ port: id, cable, impairments }: Verbs['connect']['takes']): undefined {
    const port = this.#port(id);
    if (port.connection !== undefined) throw conflict('The port has a cable already');
    if (cable.kind === 'udp' && this.#cables.has(cable))
      throw conflict(`UDP port ${cable.localPort} is the end of another cable of this server already`);
    using undo = new DisposableStack();
    const connection = new Connection(this.#plane, port, cable);
    undo.defer(() => connection.cut());
    connection.impair(impairments);
    if (cable.kind === 'udp') {
      const host = familyOf(cable.remoteHost) === 6 ? '::' : '0.0.0.0';
      const deliver: Deliver = (slot, length) => connection.incoming.offer(slot, length);
      const endpoint = this.#open(host, cable, port.drops, deliver, port.fromCableEntry);
      undo.defer(() => endpoint.close());
      connection.endpoint = endpoint;
      if (cable.via !== undefined) this.#openFarPort(id, connection, cable.via);
      this.#cables.add(connection as UdpConnection);
      this.#plane.tunnels.add(cable.remoteHost, endpoint, (notice) => this.#tell(id, notice));
    } else if (cable.kind !== 'null') {
      const deliver: Deliver = (slot, length) => connection.incoming.offer(slot, length);
      connection.endpoint = this.#openInterface(id, 'cable', port, cable, deliver);
    }
    undo.move();
    port.connection = connection;
    this.#plane.kernelLinks?.connected(port);
    this.#plane.changed();
  }

  useVia({ port: id, isUsed }: Verbs['useVia']['takes']): undefined {
    const connection = this.#connection(id);
    if (connection.far === undefined) return;
    connection.fusedWith = isUsed ? connection.far.connection : undefined;
    this.#plane.changed();
  }

  impair({ port, impairments }: Verbs['impair']['takes']): undefined {
    this.#connection(port).impair(impairments);
  }

  impairDirections({ port, impairments }: Verbs['impairDirections']['takes']): undefined {
    const connection = this.#connection(port);
    connection.schedule?.cancel();
    connection.impairDirections(impairments);
  }

  schedule({ port, plan, elapsed }: Verbs['schedule']['takes']): Verbs['schedule']['gives'] {
    const connection = this.#connection(port);
    connection.schedule?.cancel();
    const apply = (changed: CableImpairments): void => connection.impairDirections(changed);
    connection.schedule = new Schedule(plan, this.#plane.timers, apply, elapsed);
    return connection.schedule.state();
  }

  cancelSchedule({ port }: Verbs['cancelSchedule']['takes']): undefined {
    this.#connection(port).schedule?.cancel();
  }

  scheduleState({ port }: Verbs['scheduleState']['takes']): Verbs['scheduleState']['gives'] {
    return this.#connection(port).schedule?.state();
  }

  disconnect({ port }: Verbs['disconnect']['takes']): undefined {
    this.#unplug(this.#port(port));
  }

  startCapture({ port: id, capture, settings }: Verbs['startCapture']['takes']): undefined {
    this.#plane.changed();
    this.#port(id).capture = new Capture(capture, settings, this.#plane.captures);
  }

  stopCapture({ port: id }: Verbs['stopCapture']['takes']): Verbs['stopCapture']['gives'] {
    const port = this.#port(id);
    const { capture } = port;
    this.#plane.changed();
    port.capture = undefined;
    if (capture === undefined) return undefined;
    capture.close();
    const statistics = capture.statistics();
    add(this.#past, { captured: statistics });
    return statistics;
  }

  statistics({ port }: Verbs['statistics']['takes']): Verbs['statistics']['gives'] {
    this.#plane.kernelLinks?.collect(this.#port(port));
    return this.#port(port).statistics();
  }

  cableStatistics({ port }: Verbs['cableStatistics']['takes']): Verbs['cableStatistics']['gives'] {
    this.#plane.kernelLinks?.collect(this.#port(port));
    return this.#connection(port).statistics();
  }

  resetStatistics({ port }: Verbs['resetStatistics']['takes']): undefined {
    this.#plane.kernelLinks?.reset(this.#port(port));
    this.#connection(port).resetStatistics();
  }

  trimMemory(): undefined {
    releaseMemory();
    trimAllocator();
    setTimeout(trimAllocator, SWEEPING_MS).unref(); // frees what V8's own threads have released by then
  }

  totals(): Verbs['totals']['gives'] {
    this.#plane.kernelLinks?.collect();
    const totals = noTotals();
    add(totals, this.#past);
    for (const port of this.#ports.values()) {
      const { capture, ...statistics } = port.statistics();
      add(totals, statistics);
      if (capture !== undefined) add(totals, { captured: capture });
    }
    return totals;
  }

  stop(): undefined {
    this.#plane.captures.flush();
    this.stopped = true;
  }

  #port(id: number): Port {
    const port = this.#ports.get(id);
    if (port === undefined) throw conflict('The port is closed');
    return port;
  }

  #connection(id: number): Connection {
    const { connection } = this.#port(id);
    if (connection === undefined) throw conflict('The port has no cable');
    return connection;
  }

  #device(id: number): MemoryDevice {
    const device = this.#devices.get(id);
    if (device === undefined) throw conflict('The device is closed');
    return device;
  }

  #giveDevice(id: number, port: Port, device: WireDevice): void {
    port.device = this.#openDevice(id, port, device);
    this.#plane.changed();
  }

  #openDevice(id: number, port: Port, device: WireDevice): Device {
    if (device.kind === 'memory') return this.#device(device.device).attach(port, device.number);
    const deliver: Deliver = (slot, length) => port.fromDevice(slot, length);
    if (device.kind === 'udp') return this.#open(localHost(device), device, port.drops, deliver, port.fromDeviceEntry);
    return this.#openInterface(id, 'device', port, device, deliver);
  }

  #openInterface(
    id: number,
    side: InterfaceChange['side'],
    port: Port,
    address: InterfaceAddress,
    deliver: Deliver,
    drops = port.drops,
  ): InterfaceEndpoint {
    const changed = (state: InterfaceState): void =>
      this.#tell(id, { side, interface: address.interface, state } satisfies InterfaceChange);
    try {
      return this.#plane.openInterface(address, port, { drops, deliver, changed });
    } catch (error) {
      throw interfaceFailure(error, address);
    }
  }

  #open(host: string, address: UdpAddress, drops: Drops, deliver: Deliver, entry: PlainEntry): UdpEndpoint {
    const local = { host, port: address.localPort };
    const remote = { host: address.remoteHost, port: address.remotePort };
    try {
      return this.#plane.open(local, remote, drops, deliver, entry);
    } catch (error) {
      throw socketFailure(error, address);
    }
  }

  #unplug(port: Port): void {
    const { connection } = port;
    if (connection === undefined) return;
    this.#plane.kernelLinks?.divert(port);
    port.connection = undefined;
    this.#plane.changed();
    connection.cut();
    if (connection.endpoint instanceof UdpEndpoint) {
      this.#cables.remove(connection as UdpConnection);
      this.#plane.tunnels.remove(connection.endpoint);
    }
    connection.endpoint?.close();
    this.#closeFarPort(connection.far);
  }

  #closeFarPort(far: Port | undefined): void {
    far?.connection?.cut();
    far?.removeDevice();
    far?.release();
  }

  /** The interface to another host is as a node's at the far end, so that the kernel can forward frames to it. */
  #openFarPort(id: number, connection: Connection, address: PacketAddress): void {
    const far = new Port(this.#plane, connection.port.group);
    try {
      far.connection = new Connection(this.#plane, far, { kind: 'null' });
      far.connection.fusedWith = connection;
      const deliver: Deliver = (slot, length) => far.fromDevice(slot, length);
      const { drops } = connection.port;
      far.device = this.#openInterface(id, 'cable', far, { kind: 'packet', ...address }, deliver, drops);
    } catch (error) {
      this.#closeFarPort(far);
      throw error;
    }
    connection.far = far;
  }
}
