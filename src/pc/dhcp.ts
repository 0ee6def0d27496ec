// The DHCP client (RFC 2131): requests, renews and releases an address.

import { lasting, NO_ADDRESS, prefixOfMask } from './address.ts';
import { type DhcpMessage, describeDhcp, dhcpBytes, MESSAGE, OPTION, parseDhcp } from './dhcp-message.ts';
import type { Host } from './host.ts';
import { type Job, pause, Running, until } from './job.ts';

const CLIENT_PORT = 68;
const SERVER_PORT = 67;
const TRIES = 3;
const TRY_MS = 2000;
const BROADCAST = Buffer.alloc(4, 0xff);
const FOREVER_SECONDS = 0xffff_ffff;
const DEFAULT_LEASE_SECONDS = 86_400;
/** The longest that a timer takes. */
const LONGEST_SECONDS = 2_000_000;
/** Between requests for a lease that no server prolongs (RFC 2131, 4.4.5), and between attempts to get another one. */
const LEAST_REPEAT_SECONDS = 60;
const RETRY_SECONDS = 30;

export interface Lease {
  address: Buffer;
  prefix: number;
  gateway: Buffer | undefined;
  dns: Buffer[];
  domain: string;
  server: Buffer;
  /** Seconds, from when it began. */
  seconds: number;
  renewal: number;
  rebinding: number;
  /** On the clock of the PC, in ms. */
  began: number;
}

export interface DhcpWatch {
  /** A letter for each step. */
  step(letter: string): void;
  /** Lines about each message. */
  message(lines: string[]): void;
}

const SILENT: DhcpWatch = { step: () => {}, message: () => {} };

export class DhcpClient {
  lease: Lease | undefined;
  readonly #host: Host;
  readonly #hostName: () => string;
  readonly #changed: () => void;
  #keeping: Running | undefined;

  /** `changed` is called when the lease has come, changed or gone without a command. */
  constructor(host: Host, hostName: () => string, changed: () => void) {
    this.#host = host;
    this.#hostName = hostName;
    this.#changed = changed;
  }

  /** Whether it has a lease, or asks for one in the place of one that ended. */
  get isOn(): boolean {
    return this.lease !== undefined || this.#keeping !== undefined;
  }

  /** Asks for a lease, and keeps it up. */
  *obtain(watch: DhcpWatch): Job<Lease | undefined> {
    this.forget();
    const lease = yield* this.#acquire(watch);
    this.#keep();
    return lease;
  }

  /** Asks its server to prolong the lease; without one, or if the server refuses, asks for another one. */
  *renew(watch: DhcpWatch): Job<Lease | undefined> {
    const { lease } = this;
    if (lease === undefined) return yield* this.obtain(watch);
    this.#keeping?.stop();
    this.#keeping = undefined;
    try {
      const renewed = yield* this.#prolong(lease, watch, lease.server);
      return this.lease === undefined ? yield* this.#acquire(watch) : renewed;
    } finally {
      this.#keep();
    }
  }

  /** Gives the lease back. */
  release(watch: DhcpWatch): void {
    const { lease } = this;
    if (lease !== undefined) {
      const transaction = Math.floor(Math.random() * FOREVER_SECONDS);
      this.#send(transaction, MESSAGE.release, [[OPTION.server, lease.server]], watch, lease, lease.server);
    }
    this.forget();
  }

  forget(): void {
    this.#keeping?.stop();
    this.#keeping = undefined;
    this.lease = undefined;
  }

  *#acquire(watch: DhcpWatch): Job<Lease | undefined> {
    const transaction = Math.floor(Math.random() * FOREVER_SECONDS);
    for (let tried = 0; tried < TRIES; tried++) {
      watch.step('D');
      const offer = yield* this.#exchange(transaction, MESSAGE.discover, [], MESSAGE.offer, watch);
      if (typeof offer !== 'object') continue;
      const server = serverOf(offer);
      if (server === undefined) continue;
      watch.step('O');
      watch.step('R');
      const options: [number, Buffer][] = [
        [OPTION.server, server],
        [OPTION.requested, offer.yours],
      ];
      const answer = yield* this.#exchange(transaction, MESSAGE.request, options, MESSAGE.ack, watch);
      if (typeof answer !== 'object') continue;
      watch.step('A');
      return this.#bind(answer, server);
    }
    return undefined;
  }

  /** Asks the server, or all, to prolong the lease. A refused one has ended. */
  *#prolong(lease: Lease, watch: DhcpWatch, server: Buffer): Job<Lease | undefined> {
    watch.step('R');
    const transaction = Math.floor(Math.random() * FOREVER_SECONDS);
    const answer = yield* this.#exchange(transaction, MESSAGE.request, [], MESSAGE.ack, watch, lease, server);
    if (answer === 'refused') this.#drop();
    if (typeof answer !== 'object') return undefined;
    watch.step('A');
    return this.#bind(answer, serverOf(answer) ?? lease.server);
  }

  #drop(): void {
    this.lease = undefined;
    this.#changed();
  }

  *#exchange(
    transaction: number,
    type: number,
    options: [number, Buffer][],
    wanted: number,
    watch: DhcpWatch,
    lease?: Lease,
    server?: Buffer,
  ): Job<DhcpMessage | 'refused' | undefined> {
    return yield* until<DhcpMessage | 'refused' | undefined>((resume) => {
      const { udp, timers, link } = this.#host;
      const close = udp.open(CLIENT_PORT, ({ data }) => {
        const message = parseDhcp(data);
        if (message?.operation !== 2 || message.transaction !== transaction || !message.mac.equals(link.mac)) return;
        const got = message.options.get(OPTION.type)?.[0];
        if (got !== wanted && got !== MESSAGE.nak) return;
        watch.message(describeDhcp(message));
        end(got === wanted ? message : 'refused');
      });
      const timer = timers.after(TRY_MS, () => end(undefined));
      const stop = (): void => {
        close();
        timer.stop();
      };
      const end = (message: DhcpMessage | 'refused' | undefined): void => {
        stop();
        resume(message);
      };
      this.#send(transaction, type, options, watch, lease, server);
      return stop;
    });
  }

  #send(
    transaction: number,
    type: number,
    more: [number, Buffer][],
    watch: DhcpWatch,
    lease?: Lease,
    server: Buffer = BROADCAST,
  ): void {
    const { mac } = this.#host.link;
    const wanted = [OPTION.mask, OPTION.router, OPTION.dns, OPTION.domain, OPTION.lease];
    const options = new Map<number, Buffer>([
      [OPTION.type, Buffer.from([type])],
      [OPTION.hostName, Buffer.from(this.#hostName(), 'latin1').subarray(0, 63)],
      [OPTION.client, Buffer.concat([Buffer.from([1]), mac])],
      ...more,
    ]);
    if (type !== MESSAGE.release) options.set(OPTION.wanted, Buffer.from(wanted));
    const client = lease?.address ?? NO_ADDRESS[4];
    const data = dhcpBytes({ operation: 1, transaction, client, mac, options }, lease === undefined);
    watch.message(describeDhcp(parseDhcp(data)!));
    this.#host.udp.send({
      from: CLIENT_PORT,
      to: SERVER_PORT,
      data,
      source: client,
      destination: server,
    });
  }

  #bind(answer: DhcpMessage, server: Buffer): Lease {
    const { options } = answer;
    const seconds = this.#seconds(options.get(OPTION.lease), DEFAULT_LEASE_SECONDS, FOREVER_SECONDS);
    const router = options.get(OPTION.router);
    const dns = options.get(OPTION.dns) ?? Buffer.alloc(0);
    const mask = options.get(OPTION.mask);
    const lease: Lease = {
      address: lasting(answer.yours),
      prefix: (mask?.length === 4 ? prefixOfMask(mask) : undefined) ?? 24,
      gateway: router !== undefined && router.length >= 4 ? lasting(router.subarray(0, 4)) : undefined,
      dns: [0, 4].filter((at) => at + 4 <= dns.length).map((at) => lasting(dns.subarray(at, at + 4))),
      domain: (options.get(OPTION.domain)?.toString('latin1') ?? '').replace(/[^\w.-]/g, ''),
      server: lasting(server),
      seconds,
      renewal: this.#seconds(options.get(OPTION.renewal), Math.floor(seconds / 2), seconds),
      rebinding: this.#seconds(options.get(OPTION.rebinding), Math.floor(seconds * 0.875), seconds),
      began: this.#host.timers.now(),
    };
    this.lease = lease;
    return lease;
  }

  #seconds(bytes: Buffer | undefined, otherwise: number, most: number): number {
    return Math.max(1, Math.min(bytes?.length === 4 ? bytes.readUInt32BE() : otherwise, most));
  }

  #keep(): void {
    if (this.lease === undefined) return;
    this.#keeping = new Running(this.#keepUp(), () => {
      this.#keeping = undefined;
    });
    this.#keeping.start();
  }

  /** Renews the lease in time, asks all servers if its own does not answer, and asks for another one when it has ended. */
  *#keepUp(): Job {
    for (;;) {
      const { lease } = this;
      if (lease === undefined) {
        if ((yield* this.#acquire(SILENT)) === undefined) yield* pause(this.#host, RETRY_SECONDS * 1000);
        else this.#changed();
        continue;
      }
      const { seconds, renewal, rebinding } = lease;
      if (seconds === FOREVER_SECONDS) return;
      const age = this.#age(lease);
      if (age >= seconds) {
        this.#drop();
        continue;
      }
      if (age < renewal) {
        yield* pause(this.#host, Math.min(renewal - age, LONGEST_SECONDS) * 1000);
        continue;
      }
      const [server, end] = age < rebinding ? [lease.server, rebinding] : [BROADCAST, seconds];
      if ((yield* this.#prolong(lease, SILENT, server)) !== undefined) this.#changed();
      else if (this.lease !== undefined) {
        const left = Math.max(0, end - this.#age(lease));
        yield* pause(this.#host, Math.min(left, Math.max(left / 2, LEAST_REPEAT_SECONDS), LONGEST_SECONDS) * 1000);
      }
    }
  }

  #age({ began }: Lease): number {
    return (this.#host.timers.now() - began) / 1000;
  }
}

function serverOf({ options }: DhcpMessage): Buffer | undefined {
  const server = options.get(OPTION.server);
  return server?.length === 4 ? server : undefined;
}
