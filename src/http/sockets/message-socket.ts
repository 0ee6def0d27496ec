// The server's interface to a WebSocket: messages, send backlog, and closing with code and reason.

/** Close codes of RFC 6455, section 7.4.1; the second is of connections that end without a closing frame. */
export const POLICY_VIOLATION = 1008;
export const ABNORMAL = 1006;

/** Text or bytes. */
export type SocketData = string | Uint8Array;

export interface SocketEvents {
  message?: (data: SocketData) => void;
  close?: (code: number, reason: string) => void;
  /** Bytes taken but not passed on by the listener; a sender in this process sees them in its `bufferedAmount`. */
  backlog?: () => number;
}

/** One end of a WebSocket, or of an equivalent within this process. */
export interface MessageSocket {
  send(data: SocketData): void;
  /** Bytes passed to `send` but not sent yet. */
  readonly bufferedAmount: number;
  close(code?: number, reason?: string): void;
  /** Combines all sends within the callback into one write. Missing if useless. */
  cork?(send: () => void): void;
  /** Sets the handlers; earlier messages are delivered first. */
  listen(events: SocketEvents): void;
}

/** Keeps early messages until there is a listener. */
export class SocketInbox {
  readonly #waiting: SocketData[] = [];
  #ended: { code: number; reason: string } | undefined;
  #events: SocketEvents | undefined;

  listen(events: SocketEvents): void {
    this.#events = events;
    for (const data of this.#waiting.splice(0)) events.message?.(data);
    if (this.#ended) events.close?.(this.#ended.code, this.#ended.reason);
  }

  get backlog(): number {
    return this.#events?.backlog?.() ?? 0;
  }

  message(data: SocketData): void {
    if (this.#ended) return;
    if (this.#events) this.#events.message?.(data);
    else this.#waiting.push(data);
  }

  close(code: number, reason: string): void {
    if (this.#ended) return;
    this.#ended = { code, reason };
    this.#events?.close?.(code, reason);
  }
}

/** Two connected ends within this process. Messages arrive in order, never within the sender's call. */
export function socketPair(): [MessageSocket, MessageSocket] {
  const inboxes = [new SocketInbox(), new SocketInbox()] as const;
  let open = true;
  const end = (own: SocketInbox, other: SocketInbox): MessageSocket => ({
    get bufferedAmount() {
      return other.backlog;
    },
    send(data) {
      if (open) queueMicrotask(() => other.message(data));
    },
    close(code = 1000, reason = '') {
      if (!open) return;
      open = false;
      queueMicrotask(() => {
        other.close(code, reason);
        own.close(code, reason);
      });
    },
    listen: (events) => own.listen(events),
  });
  return [end(inboxes[0], inboxes[1]), end(inboxes[1], inboxes[0])];
}

/** Passes all messages between two sockets until one closes. */
export function joinSockets(one: MessageSocket, other: MessageSocket): void {
  const pass = (from: MessageSocket, to: MessageSocket): void =>
    from.listen({
      message: (data) => to.send(data),
      close: (code, reason) => to.close(sendable(code), reason),
      backlog: () => to.bufferedAmount,
    });
  pass(one, other);
  pass(other, one);
}

/** A socket that drops what is sent to it, for read-only clients. */
export function outputOnly(socket: MessageSocket): MessageSocket {
  return {
    send: () => {},
    bufferedAmount: 0,
    close: (code, reason) => socket.close(code, reason),
    listen: (events) => socket.listen(events),
  };
}

/** Codes for "no code was sent" must not be sent (RFC 6455, section 7.4.1). */
function sendable(code: number): number {
  return code === 1005 || code === 1006 || code === 1015 ? 1000 : code;
}
