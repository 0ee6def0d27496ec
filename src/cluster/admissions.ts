// Admits hosts to the cluster, and lets them leave; on the host of `init`.
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { ignore, messageOf } from '../failures.ts';
import type { ClusterLog } from './cluster-log.ts';
import type { ClusterFiles, Membership } from './layout.ts';
import { admit, forgetHost } from './registry.ts';
import { inboxPrefix, isRequest, JOIN_INBOX, JOIN_SUBJECT, respond, senderOf, subjects } from './subjects.ts';

export interface AdmissionsParts {
  files: ClusterFiles;
  /** As of now. */
  membership: () => Membership;
  log: ClusterLog;
}

/** Requests to join that wait. Anybody may send them; hosts repeat one that is not answered. */
const MOST_WAITING = 32;

export class Admissions {
  readonly #parts: AdmissionsParts;
  #joining = 0;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(parts: AdmissionsParts) {
    this.#parts = parts;
  }

  /** Takes a host out of the cluster; one at a time, as each writes the list of all that were. @throws Failure */
  forget(name: string): Promise<unknown> {
    const { files, membership } = this.#parts;
    const forgotten = this.#turn.then(() => forgetHost(files, membership(), name));
    this.#turn = forgotten.catch(ignore);
    return forgotten;
  }

  /** Answers hosts that ask to join, one at a time. */
  serve(nats: NatsConnection): void {
    const { files, membership, log } = this.#parts;
    const answer = (message: Msg, inbox: string, act: () => Promise<object>): void => {
      if (!isRequest(message, inbox)) return;
      const answered = this.#turn.then(async () => {
        const body = await act().catch((error: unknown) => ({ refused: messageOf(error) }));
        respond(message, inbox, JSON.stringify(body));
      });
      // The connection may be closed by then; later requests come with another one.
      this.#turn = answered.catch(ignore);
    };
    nats.subscribe(JOIN_SUBJECT, {
      callback: (_error, message) => {
        if (this.#joining >= MOST_WAITING || !isRequest(message, JOIN_INBOX)) return;
        this.#joining += 1;
        answer(message, JOIN_INBOX, async () => {
          try {
            const { name, ...answered } = await admit(files, membership(), message.json());
            log.info('a host joined the cluster', { host: name });
            return { joined: name, ...answered, cluster: membership().cluster };
          } finally {
            this.#joining -= 1;
          }
        });
      },
    });
    nats.subscribe(subjects('*').leave, {
      callback: (_error, message) =>
        answer(message, inboxPrefix(senderOf(message)), async () => {
          const name = senderOf(message);
          // The answer must leave before the host's connection is ended.
          setTimeout(() => {
            this.forget(name).catch((error: unknown) =>
              log.error('a host that leaves cannot be forgotten', { host: name, reason: messageOf(error) }),
            );
          }, 50);
          return { left: name };
        }),
    });
  }
}
