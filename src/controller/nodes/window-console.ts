// The console of a node for a client that sends its window size: control messages are passed to computes that know them.
import { controlMessage, type TerminalSize } from '../../consoles/socket-control.ts';
import type { Connected } from '../../http/app/route.ts';
import { joinSockets, type MessageSocket } from '../../http/sockets/message-socket.ts';
import { lacksRoute } from '../computes/answers.ts';
import type { Node } from './node.ts';

/** @param place `console` or `aux` @throws ComputeRefusal, ComputeUnreachable */
export async function windowConsole(
  node: Node,
  place: 'console' | 'aux',
  { cols, rows }: TerminalSize,
): Promise<Connected> {
  try {
    const known = await node.compute.openSocket(`${node.path}/${place}/window/ws?cols=${cols}&rows=${rows}`);
    return (client) => joinSockets(client, known);
  } catch (error) {
    if (!lacksRoute(error)) throw error;
  }
  // A compute of the release, which would take a control message as input. Or there is no such console, and this call
  // fails.
  const plain = await node.compute.openSocket(`${node.path}/${place}/ws`);
  const refusal = `The compute ${node.compute.name} cannot send a Break, nor set the size of a terminal: that takes a Labwire there.`;
  return (client) => joinSockets(client, withoutControl(plain, client, refusal));
}

/**
 * A socket that never gets text: a client's control message is answered with the refusal. Bytes from the socket are
 * output.
 */
function withoutControl(socket: MessageSocket, client: MessageSocket, refusal: string): MessageSocket {
  return {
    send: (data) => {
      if (typeof data !== 'string') socket.send(data);
      else if (controlMessage(data)?.type === 'break')
        client.send(JSON.stringify({ type: 'refused', message: refusal }));
    },
    get bufferedAmount() {
      return socket.bufferedAmount;
    },
    close: (code, reason) => socket.close(code, reason),
    listen: (events) =>
      socket.listen({
        ...events,
        message: (data) => events.message?.(typeof data === 'string' ? Buffer.from(data) : data),
      }),
  };
}
