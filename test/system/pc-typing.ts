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
