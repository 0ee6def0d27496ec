// A WebSocket as the rest of the server sees it: messages both ways, how much waits to be sent, and an end with a code and a reason.

/** Text or bytes. */
export type SocketData = string | Uint8Array;

export interface SocketEvents {
  message?: (data: SocketData) => void;
  close?: (code: number, reason: string) => void;
  /** Bytes that the listener has taken but not passed on yet: a sender within this process sees them in its `bufferedAmount`. */
  backlog?: () => number;
}

/** One end of an open WebSocket, or of an in-process stand-in with the same behaviour. */
export interface MessageSocket {
  send(data: SocketData): void;
  /** Bytes handed to `send` that have not left yet. */
  readonly bufferedAmount: number;
  close(code?: number, reason?: string): void;
  /** Calls `send`; what is sent in it leaves in one write. Absent where that is of no use. */
  cork?(send: () => void): void;
  /** Sets what is called from now on; what came before is delivered first, in order. */
  listen(events: SocketEvents): void;
}

/** Keeps what arrives until somebody listens, so that nothing of the first moments is lost. */
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

/** Two joined ends within this process: what one sends the other receives, in order, never within the sender's own call. */
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

/** Passes everything from each socket to the other, until one of them closes. */
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

/** A socket that is sent nothing: whoever is joined with it may only watch. */
export function outputOnly(socket: MessageSocket): MessageSocket {
  return {
    send: () => {},
    bufferedAmount: 0,
    close: (code, reason) => socket.close(code, reason),
    listen: (events) => socket.listen(events),
  };
}

/** Codes that stand for "no code was sent" must not be sent on (RFC 6455, section 7.4.1). */
function sendable(code: number): number {
  return code === 1005 || code === 1006 || code === 1015 ? 1000 : code;
}
