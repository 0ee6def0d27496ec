// Typing at the consoles of virtual PCs, as a web client does.
import WebSocket from 'ws';
import { answerTo } from '../pc-console.ts';
import { eventually } from './daemon.ts';
import type { Lab, NodeObject } from './lab.ts';

/** Types a line at a node's console by the controller's WebSocket, when the prompt is there; gives the answer. */
export async function type({ daemon, path }: Lab, node: NodeObject, line: string): Promise<string> {
  const address = `${daemon.url.replace('http', 'ws')}${path}/nodes/${node.node_id}/console/ws`;
  const socket = new WebSocket(address, { headers: daemon.headers });
  let output = '';
  socket.on('message', (data) => {
    output += String(data);
  });
  try {
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    socket.send('\r');
    await eventually(
      `the prompt of ${node.name}`,
      () => output,
      (text) => /> ?$/.test(text),
    );
    output = '';
    socket.send(`${line}\r`);
    const answer = await eventually(`the answer to ${line}`, () => answerTo(line, output), Boolean, 20_000);
    return (answer ?? []).join('\n');
  } finally {
    socket.terminate();
  }
}

/** Whether an echo came back; one that was lost reads `icmp_seq=1 timeout`. */
export const isAnswered = (said: string, address: string): boolean =>
  new RegExp(`(^|\\s)${address} icmp_seq=\\d+ ttl=`).test(said);

/** Pings until an echo comes back: PCs may still be starting, a link may look for its way, and the machine may be busy. */
export async function reaches(lab: Lab, from: NodeObject, address: string, words = '-c 2 -w 500'): Promise<void> {
  await eventually(
    `frames from ${from.name} to ${address}`,
    () => type(lab, from, `ping ${address} ${words}`),
    (said) => isAnswered(said, address),
  );
}
