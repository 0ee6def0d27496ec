// The name server of the NAT network: forwards queries to the resolvers of this host, and returns their answers.

import { randomInt } from 'node:crypto';
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { Resolver } from 'node:dns';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import { conflict, messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';

/** Bytes of a message without a query. */
const HEADER_BYTES = 12;
const ANSWER_FLAG = 0x8000;
const SERVER_FAILURE = 2;
/** Limit of pending queries; further ones are dropped, and repeated by their clients. */
const MOST_PENDING = 256;
/** Milliseconds before the next resolver is tried. */
const PATIENCE_MS = 2_000;
/** Milliseconds that the list of resolvers is cached. */
const FRESH_MS = 5_000;
/** The usual port of a resolver. */
const DNS_PORT = 53;

interface Upstream {
  host: string;
  port: number;
}

/** `192.0.2.1`, `192.0.2.1:5353`, `2001:db8::1`, `[2001:db8::1]:5353`. */
export function upstream(text: string): Upstream {
  const [, bracketed, plain, port] = /^(?:\[(.*)\]|([^:]*))(?::(\d+))?$/.exec(text) ?? [];
  return { host: bracketed ?? plain ?? text, port: port === undefined ? DNS_PORT : Number(port) };
}

export class NameRelay {
  #socket: Socket | undefined;
  #pending = new Set<Socket>();
  #resolvers: Upstream[] = [];
  #believedUntil = 0;
  readonly #ownResolvers: () => string[];

  /** @param ownResolvers returns the present resolvers of this host */
  constructor(ownResolvers = (): string[] => new Resolver().getServers()) {
    this.#ownResolvers = ownResolvers;
  }

  /** Listens at the address and returns the port. */
  async start(address: string): Promise<number> {
    const socket = createSocket('udp4');
    socket.on('message', (question, client) => this.#ask(question, client));
    try {
      socket.bind({ address, port: 0, exclusive: true });
      await once(socket, 'listening');
    } catch (thrown) {
      socket.close();
      throw conflict(`The name server of the NAT network cannot listen: ${messageOf(thrown)}.`, {
        cause: thrown,
      });
    }
    socket.on('error', (error) => log.warn('name server of the NAT network', { reason: error.message }));
    this.#socket = socket;
    return socket.address().port;
  }

  stop(): void {
    this.#socket?.close();
    this.#socket = undefined;
    for (const socket of this.#pending) socket.close();
    this.#pending.clear();
  }

  #ask(question: Buffer, client: RemoteInfo): void {
    if (question.length < HEADER_BYTES || (question.readUInt16BE(2) & ANSWER_FLAG) !== 0) return;
    if (this.#pending.size >= MOST_PENDING) return;
    const answer = (bytes: Buffer): void => {
      question.copy(bytes, 0, 0, 2);
      this.#socket?.send(bytes, client.port, client.address, () => {});
    };
    this.#tryNext([...this.#current()], question, answer);
  }

  /**
   * Tries the resolvers one after the other. Each query gets its own number and port, which makes forged answers hard.
   */
  #tryNext([resolver, ...others]: Upstream[], question: Buffer, answer: (bytes: Buffer) => void): void {
    if (resolver === undefined) {
      answer(failed(question));
      return;
    }
    const socket = createSocket(isIPv6(resolver.host) ? 'udp6' : 'udp4');
    this.#pending.add(socket);
    const number = randomInt(0x10000);
    const asked = Buffer.from(question);
    asked.writeUInt16BE(number, 0);
    const end = (): boolean => {
      clearTimeout(timer);
      if (!this.#pending.delete(socket)) return false;
      socket.close();
      return true;
    };
    const giveUp = (): void => {
      if (end()) this.#tryNext(others, question, answer);
    };
    const timer = setTimeout(giveUp, PATIENCE_MS).unref();
    socket.on('error', giveUp);
    socket.on('message', (bytes) => {
      if (bytes.length >= HEADER_BYTES && bytes.readUInt16BE(0) === number && end()) answer(bytes);
    });
    // A connected socket receives only from this resolver.
    socket.once('connect', () => socket.send(asked));
    socket.connect(resolver.port, resolver.host);
  }

  /** The present resolvers of this host. */
  #current(): readonly Upstream[] {
    if (performance.now() >= this.#believedUntil) {
      this.#resolvers = this.#ownResolvers().map(upstream);
      this.#believedUntil = performance.now() + FRESH_MS;
    }
    return this.#resolvers;
  }
}

/** The SERVFAIL answer. */
function failed(question: Buffer): Buffer {
  const bytes = Buffer.from(question);
  bytes.writeUInt16BE(((bytes.readUInt16BE(2) | ANSWER_FLAG) & 0xfff0) | SERVER_FAILURE, 2);
  return bytes;
}
