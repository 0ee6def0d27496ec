// Streams the journal of a lab, one line of JSON per entry: first the stored entries, then each new one.
import type { JournalEntry } from '../../api/routes/projects.ts';
import { type Announcer, SILENCE_MS } from '../events.ts';
import type { Journals } from './journals.ts';

export interface JournalStreamOptions {
  journals: Journals;
  announcer: Announcer;
  projectId: string;
  /** Selects the entries to send. */
  wants: (entry: JournalEntry) => boolean;
  /** Whether the lab still exists. */
  isThere: () => boolean;
}

export function journalStream({ journals, announcer, projectId, wants, isThere }: JournalStreamOptions): Response {
  const encoder = new TextEncoder();
  // Subscribes to all labs and filters: a subscriber of the lab itself would keep it open, and trigger `auto_close`
  // when it leaves.
  const isOfLab = (message: { projectId: string | undefined }): boolean => message.projectId === projectId;
  const subscription = announcer.project.subscribe(undefined, undefined, false, isOfLab);
  let place = journals.beginning(projectId);
  const later = (): string => {
    const { entries, place: next } = journals.after(projectId, place);
    place = next;
    return entries
      .filter(wants)
      .map((entry) => `${JSON.stringify(entry)}\n`)
      .join('');
  };
  let isFirst = true;
  let hasLeft = false;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const send = (text: string): void => controller.enqueue(encoder.encode(text));
        if (isFirst) {
          isFirst = false;
          return send(later() || '\n');
        }
        for (;;) {
          const { kind } = await subscription.take(SILENCE_MS);
          if (hasLeft) return;
          const text = later() || (kind === 'silence' ? '\n' : '');
          if (text !== '') send(text);
          if (kind === 'end' || !isThere()) {
            subscription.end();
            return controller.close();
          }
          if (text !== '') return;
        }
      },
      cancel: () => {
        hasLeft = true;
        subscription.end();
      },
    },
    { highWaterMark: 1 },
  );
  return new Response(body, { headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' } });
}
