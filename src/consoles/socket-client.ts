// A console over a WebSocket: plain bytes both ways for web terminals, without telnet.

import type { Console } from './console.ts';
import { controlMessage, type TerminalSize } from './socket-control.ts';

/** Clients of release 2.2.57 accept messages of up to this size. */
const MESSAGE_BYTES = 1024;
/** Close codes of RFC 6455's registry. */
const TRY_AGAIN_LATER = 1013;
const BAD_MESSAGE = 1007;

/** The required part of an open WebSocket. */
export interface ConsoleSocket {
  send(data: Uint8Array): void;
  /** Bytes passed to `send` that are not sent yet. */
  readonly bufferedAmount: number;
  close(code?: number, reason?: string): void;
  listen(events: { message: (data: string | Uint8Array) => void; close: () => void }): void;
}

/**
 * Makes the socket a client of the console until it closes. Text and binary messages are input.
 * @param size of the client's window: if given, text messages are control messages (`socket-control.ts`)
 */
export function attachSocket(console: Console, socket: ConsoleSocket, description: string, size?: TerminalSize): void {
  const attachment = console.attach({
    description,
    send: (output) => {
      for (let at = 0; at < output.length; at += MESSAGE_BYTES) socket.send(output.subarray(at, at + MESSAGE_BYTES));
    },
    get queuedBytes() {
      return socket.bufferedAmount;
    },
    // A close frame holds 123 bytes of reason.
    close: (reason) => socket.close(TRY_AGAIN_LATER, Buffer.from(reason).subarray(0, 120).toString('utf8')),
  });
  if (size) attachment.resize(size.cols, size.rows);
  const control = (text: string): void => {
    const message = controlMessage(text);
    if (message === undefined) {
      attachment.detach();
      socket.close(
        BAD_MESSAGE,
        'text: send {"type":"resize","cols":80,"rows":24} or {"type":"break"}; input is binary',
      );
    } else if (message.type === 'resize') attachment.resize(message.cols, message.rows);
    else attachment.sendBreak();
  };
  socket.listen({
    message: (data) => {
      if (size && typeof data === 'string') control(data);
      else attachment.input(typeof data === 'string' ? Buffer.from(data) : Buffer.from(data));
    },
    close: () => attachment.detach(),
  });
}
