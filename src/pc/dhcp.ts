// The DHCP client (RFC 2131): requests, renews and releases an address.

import { lasting, NO_ADDRESS, prefixOfMask } from './address.ts';
import { type DhcpMessage, describeDhcp, dhcpBytes, MESSAGE, OPTION, parseDhcp } from './dhcp-message.ts';
import type { Host } from './host.ts';
import { type Job, Running, until } from './job.ts';
import type { Timer } from './timers.ts';

const CLIENT_PORT = 68;
const SERVER_PORT = 67;
const TRIES = 3;
const TRY_MS = 2000;
const BROADCAST = Buffer.alloc(4, 0xff);
const FOREVER_SECONDS = 0xffff_ffff;
const DEFAULT_LEASE_SECONDS = 86_400;
/** The longest that a timer takes. */
const LONGEST_SECONDS = 2_000_000;

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
  #timer: Timer | undefined;
  #renewing: Running | undefined;

  /** `changed` is called when the lease has come, changed or gone without a command. */
  constructor(host: Host, hostName: () => string, changed: () => void) {
    this.#host = host;
    this.#hostName = hostName;
    this.#changed = changed;
  }

  /** Asks for a lease. */
  *obtain(watch: DhcpWatch): Job<Lease | undefined> {
    this.forget();
    const transaction = Math.floor(Math.random() * FOREVER_SECONDS);
    for (let tried = 0; tried < TRIES; tried++) {
      watch.step('D');
      const offer = yield* this.#exchange(transaction, MESSAGE.discover, [], MESSAGE.offer, watch);
      const server = offer?.options.get(OPTION.server);
      if (offer === undefined || server?.length !== 4) continue;
      watch.step('O');
      watch.step('R');
      const options: [number, Buffer][] = [
        [OPTION.server, server],
        [OPTION.requested, offer.yours],
      ];
      const answer = yield* this.#exchange(transaction, MESSAGE.request, options, MESSAGE.ack, watch);
      if (answer === undefined) continue;
      watch.step('A');
      return this.#bind(answer, server);
    }
    return undefined;
  }

  /** Asks its server to prolong the lease; without one, asks for one. */
  *renew(watch: DhcpWatch): Job<Lease | undefined> {
    const { lease } = this;
    if (lease === undefined) return yield* this.obtain(watch);
    watch.step('R');
    const transaction = Math.floor(Math.random() * FOREVER_SECONDS);
    const answer = yield* this.#exchange(transaction, MESSAGE.request, [], MESSAGE.ack, watch, lease);
    if (answer === undefined) return undefined;
    watch.step('A');
    return this.#bind(answer, lease.server);
  }

  /** Gives the lease back. */
  release(watch: DhcpWatch): void {
    const { lease } = this;
    if (lease === undefined) return;
    const transaction = Math.floor(Math.random() * FOREVER_SECONDS);
    this.#send(transaction, MESSAGE.release, [[OPTION.server, lease.server]], watch, lease);
    this.forget();
  }

  forget(): void {
    this.#timer?.stop();
    this.#renewing?.stop();
    this.#renewing = undefined;
    this.lease = undefined;
  }

  *#exchange(
    transaction: number,
    type: number,
    options: [number, Buffer][],
    wanted: number,
    watch: DhcpWatch,
    lease?: Lease,
  ): Job<DhcpMessage | undefined> {
    return yield* until<DhcpMessage | undefined>((resume) => {
      const { udp, timers, link } = this.#host;
      const close = udp.open(CLIENT_PORT, ({ data }) => {
        const message = parseDhcp(data);
        if (message?.operation !== 2 || message.transaction !== transaction || !message.mac.equals(link.mac)) return;
        const got = message.options.get(OPTION.type)?.[0];
        if (got !== wanted && got !== MESSAGE.nak) return;
        watch.message(describeDhcp(message));
        end(got === wanted ? message : undefined);
      });
      const timer = timers.after(TRY_MS, () => end(undefined));
      const stop = (): void => {
        close();
        timer.stop();
      };
      const end = (message: DhcpMessage | undefined): void => {
        stop();
        resume(message);
      };
      this.#send(transaction, type, options, watch, lease);
      return stop;
    });
  }

  #send(transaction: number, type: number, more: [number, Buffer][], watch: DhcpWatch, lease?: Lease): void {
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
      destination: lease?.server ?? BROADCAST,
    });
  }

  #bind(answer: DhcpMessage, server: Buffer): Lease {
    const { options } = answer;
    const seconds = this.#seconds(options.get(OPTION.lease), DEFAULT_LEASE_SECONDS);
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
      renewal: this.#seconds(options.get(OPTION.renewal), Math.floor(seconds / 2)),
      rebinding: this.#seconds(options.get(OPTION.rebinding), Math.floor(seconds * 0.875)),
      began: this.#host.timers.now(),
    };
    this.lease = lease;
    this.#keepUp(lease, lease.renewal);
    return lease;
  }

  #seconds(bytes: Buffer | undefined, otherwise: number): number {
    return bytes?.length === 4 ? bytes.readUInt32BE() : otherwise;
  }

  /** Renews the lease in time; if that fails, it expires. */
  #keepUp(lease: Lease, seconds: number): void {
    this.#timer?.stop();
    if (lease.seconds === FOREVER_SECONDS) return;
    this.#timer = this.#host.timers.after(Math.min(Math.max(seconds, 1), LONGEST_SECONDS) * 1000, () => {
      const left = lease.seconds - (this.#host.timers.now() - lease.began) / 1000;
      if (left <= 1) {
        this.forget();
        this.#changed();
        return;
      }
      this.#keepUp(lease, left / 2);
      this.#renewing?.stop();
      this.#renewing = new Running(this.#renewQuietly(), () => {
        this.#renewing = undefined;
      });
      this.#renewing.start();
    });
  }

  *#renewQuietly(): Job {
    const renewed = yield* this.renew(SILENT);
    if (renewed !== undefined) this.#changed();
  }
}
