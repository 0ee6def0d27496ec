// The demonstration's output: numbered steps with their requests and results, and what to try next.
import { styleText } from 'node:util';
import type { CapturedFrame } from '../captures/captured-frames.ts';
import { describeFrame } from '../captures/frame-line.ts';

const INDENT = '   ';
const COLUMNS = 110;
const IDENTIFIER = /\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;

/** A request, for people: of each uuid the first eight characters, and long bodies on several lines. */
export function requestLines(method: string, path: string, body?: object): string[] {
  const text = body === undefined ? `${method} ${path}` : `${method} ${path} ${JSON.stringify(body)}`;
  const lines: string[] = [];
  for (const piece of text.replace(IDENTIFIER, '$1…').split(/(?<=,)(?=["{])/)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + piece.length <= COLUMNS) lines[lines.length - 1] = last + piece;
    else lines.push(last === undefined ? piece : `  ${piece}`);
  }
  return lines;
}

/** One line for each frame, with the milliseconds since the first. */
export function frameLines(frames: readonly CapturedFrame[]): string[] {
  const [first] = frames;
  if (!first) return ['No frame was seen.'];
  return frames.map(({ time, bytes }) => {
    const milliseconds = ((time - first.time) / 1000).toFixed(1).padStart(9);
    return `${milliseconds} ms  ${describeFrame(bytes)}`;
  });
}

export interface WhatRuns {
  server: { address: string; user: string | undefined };
  lab: { id: string; name: string };
  pc: { name: string; consoleHost: string; consolePort: number };
}

/** The end: what is running, and four things to try next. */
export function thingsToTry({ server, lab, pc }: WhatRuns): string {
  const { hostname, port, protocol } = new URL(server.address);
  const credentials = server.user === undefined ? '' : ` -u '${server.user}'`;
  const portOf = port || (protocol === 'https:' ? '443' : '80');
  return `
The lab "${lab.name}" is running on ${server.address}. Four things to try next:

   ${server.address}/labs/${lab.id}
      the lab in a browser: a double click opens a console

   telnet ${pc.consoleHost} ${pc.consolePort}
      the console of ${pc.name}: type "ping 10.0.0.2"; leave with Ctrl-] and "quit"

   curl${credentials} -N ${server.address}/v2/projects/${lab.id}/notifications
      what happens in the lab, as it happens; in another terminal, stop a PC:
      curl${credentials} -X POST ${server.address}/v2/projects/${lab.id}/nodes/stop

   a GNS3 client of release 2.2: enter host ${hostname} and port ${portOf} as its main server
      (Preferences, Server) and open the project "${lab.name}"
`;
}

export class Story {
  readonly #write: (text: string) => void;
  #steps = 0;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  step(title: string): void {
    this.#steps += 1;
    this.#write(`\n${styleText('bold', `${this.#steps}. ${title}`)}\n`);
  }

  request(method: string, path: string, body?: object): void {
    for (const line of requestLines(method, path, body)) this.#write(`${INDENT}${styleText('dim', line)}\n`);
  }

  /** Lines of text, indented below their step. */
  say(...lines: string[]): void {
    for (const line of lines) this.#write(line === '' ? '\n' : `${INDENT}${line}\n`);
  }
}
