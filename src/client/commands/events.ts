// `labwired events`: live events of the server or a lab.
import { createInterface } from 'node:readline';
import { unavailable } from '../../failures.ts';
import { escaped, harmless } from '../../host/terminal/terminal-text.ts';
import { fitted } from '../../host/terminal/text-width.ts';
import { type Noun, verb } from '../frame/command.ts';
import type { Session } from '../frame/session.ts';

interface EventLine {
  action: string;
  event: Record<string, unknown>;
}

/** The subject of an event: a name, a message or a state. */
function about({ event }: EventLine): string {
  const text = (member: string): string => (typeof event[member] === 'string' ? String(event[member]) : '');
  const id = text('node_id') || text('link_id') || text('drawing_id') || text('snapshot_id') || text('project_id');
  return [text('name') || text('message') || id, text('status')].filter((word) => word !== '').join('  ');
}

async function follow(session: Session, path: string): Promise<void> {
  const stream = await session.api.stream(path);
  session.ending.isUsual = true;
  for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line === '') continue;
    const message = JSON.parse(line) as EventLine;
    if (message.action === 'ping') continue;
    if (session.json) session.print(escaped(line));
    else if (session.quiet) session.print(harmless(message.action));
    else {
      const time = new Date().toLocaleTimeString('sv-SE');
      const text = harmless(`${time}  ${message.action}  ${about(message)}`).trimEnd();
      session.print(session.width === undefined ? text : fitted(text, session.width));
    }
  }
  throw unavailable('The server ended the event stream.');
}

export const events: Noun = {
  name: 'events',
  summary: 'live events',
  verbs: [
    verb({
      name: '',
      words: ['[LAB]'],
      summary: 'prints events of a lab, or of the labs, computes and templates of the server, until Ctrl+C',
      run: async (session, [wanted]) => {
        const lab = wanted === undefined ? undefined : await session.labNamed(wanted);
        await follow(session, lab ? `/v2/projects/${lab.project_id}/notifications` : '/v2/notifications');
      },
    }),
  ],
};
