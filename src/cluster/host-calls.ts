// Calls between hosts over NATS: of the controller to computes, of hosts to the controller for their clients, and which host that is.
import type { Duplex } from 'node:stream';
import { type Msg, type NatsConnection, nuid, RequestError, type Subscription } from '@nats-io/transport-node';
import { LEASE_MS } from '../api/leases.ts';
import { messageOf } from '../failures.ts';
import { RENEWAL_MS } from './leases.ts';
import { HostStreams } from './streams.ts';
import { FOUND, inboxPrefix, isRequest, respond, senderOf, subjects } from './subjects.ts';

/** Parts of subjects. */
const STREAM_PART = 3;
/** The run of a server. */
const RUN = /^[\da-f-]{36}$/;
/** Before the run of a controller that ends: hosts in another account of NATS do not learn from it that no host listens any more. */
const ENDED = 'ended ';
/** The other end of streams on hosts that are not the controller; no name of a host. */
const CONTROLLER = '(controller)';

/** Only its first message begins a stream: later ones of a stream that is gone are ignored. */
const isFirst = ({ data }: Msg): boolean => data[0] === 1 && data.subarray(1, 5).every((byte) => byte === 0);

export interface HostCallsParts {
  /** The name of this host, and the run of its server. */
  host: string;
  run: string;
  /** Serves a stream as a connection of HTTP to this host's compute. */
  accept: (stream: Duplex) => void;
  /** Serves a stream as a connection of clients that another host passes on. */
  acceptClient: (stream: Duplex, host: string) => void;
  /** Whether a host holds a lease. */
  holds: (host: string) => boolean;
  /** Whether this host may answer as the controller. */
  isCertain: () => boolean;
  /** Gives the role of the controller to a host; resolves to its name. */
  handOver: (to?: string) => Promise<string>;
}

export class HostCalls {
  readonly #parts: HostCallsParts;
  readonly #streams: HostStreams;
  /** Whether this host commands the computes, and answers clients of all hosts. */
  #isController: boolean;
  /** To what computes send, and to what hosts send for their clients. */
  #computes: Subscription | undefined;
  #clients: readonly Subscription[] = [];
  /** The connection of now; it may be interrupted. */
  nats: NatsConnection | undefined;
  isReached = false;
  /** The run of the controller's server, while it answers. */
  #controllerRun: string | undefined;
  /** When the controller has answered last (ms). */
  #heard = Number.NEGATIVE_INFINITY;

  constructor(parts: HostCallsParts, isController: boolean) {
    this.#parts = parts;
    this.#isController = isController;
    this.#streams = new HostStreams({ publish: (subject, message) => this.nats?.publish(subject, message) });
  }

  get isController(): boolean {
    return this.#isController;
  }

  /** Ends all streams, or those with one host. */
  break(reason: string, to?: (host: string) => boolean): void {
    this.#streams.break(reason, to);
  }

  /** This host becomes the controller: it commands the computes. */
  lead(): void {
    this.#isController = true;
    // The former controller ended in order: nothing else ends what was being passed on to it.
    this.break('the controller is this host now', (host) => host === CONTROLLER);
    this.#controllerRun = undefined;
    if (this.nats) this.#hearComputes(this.nats);
  }

  /** It is the controller: it answers clients of all hosts. */
  answerClients(): void {
    if (this.nats) this.#hearClients(this.nats);
    this.nats?.publish(FOUND, this.#parts.run);
  }

  /** It is the controller no longer for clients. */
  endClients(): void {
    if (this.#clients.length === 0) return;
    this.#stopHearingClients();
    this.nats?.publish(FOUND, `${ENDED}${this.#parts.run}`);
  }

  #stopHearingClients(): void {
    for (const subscription of this.#clients) subscription.unsubscribe();
    this.#clients = [];
  }

  /** It is the controller no more. */
  follow(): void {
    this.#isController = false;
    this.#computes?.unsubscribe();
    this.break('this host is the controller no more', (host) => host !== CONTROLLER);
    if (this.nats) void this.findController(this.nats);
  }

  /** Answers other hosts on a new connection. */
  serve(nats: NatsConnection): void {
    if (this.#isController) {
      this.#hearComputes(nats);
      this.#hearClients(nats);
    }
    const { down, up, answer } = subjects(this.#parts.host);
    nats.subscribe(FOUND, {
      callback: (_error, message) => {
        const run = message.string();
        if (this.#isController) return;
        if (RUN.test(run)) this.#found(run, performance.now());
        else if (run === `${ENDED}${this.#controllerRun}`) this.#found(undefined, performance.now());
      },
    });
    nats.subscribe(`${answer}.*`, { callback: (_error, message) => this.#take(message.subject, message) });
    nats.subscribe(`${down}.*`, {
      callback: (_error, message) => {
        const id = message.subject.split('.')[STREAM_PART] as string;
        const open = (): void => this.#parts.accept(this.#streams.open(`down.${id}`, CONTROLLER, `${up}.${id}`));
        this.#take(`down.${id}`, message, isFirst(message) ? open : undefined);
      },
    });
  }

  #take(id: string, message: Msg, open?: () => void): void {
    if (!this.#streams.get(id)) open?.();
    this.#streams.get(id)?.receive(message.data);
  }

  #hearComputes(nats: NatsConnection): void {
    this.#computes?.unsubscribe();
    this.#computes = nats.subscribe(`${subjects('*').up}.*`, {
      callback: (_error, message) => this.#take(message.subject, message),
    });
  }

  #hearClients(nats: NatsConnection): void {
    this.#stopHearingClients();
    const { run, isCertain, acceptClient } = this.#parts;
    const { find, ask, handOver } = subjects('*');
    this.#clients = [
      nats.subscribe(handOver, { callback: (_error, message) => this.#handOver(message) }),
      nats.subscribe(find, {
        callback: (_error, message) => {
          // One that was held up does not know yet that another host is the controller.
          if (isCertain()) respond(message, inboxPrefix(senderOf(message)), run);
        },
      }),
      nats.subscribe(`${ask}.*`, {
        callback: (_error, message) => {
          const { subject } = message;
          const [from, id = ''] = [senderOf(message), subject.split('.')[STREAM_PART]];
          const open = (): void =>
            acceptClient(this.#streams.open(subject, from, `${subjects(from).answer}.${id}`), from);
          this.#take(subject, message, isFirst(message) && id.startsWith(run) ? open : undefined);
        },
      }),
    ];
  }

  #handOver(message: Msg): void {
    const inbox = inboxPrefix(senderOf(message));
    if (!isRequest(message, inbox)) return;
    const answer = (body: object): void => respond(message, inbox, JSON.stringify(body));
    this.#parts.handOver(message.string() || undefined).then(
      (name) => answer({ name }),
      (error: unknown) => answer({ refused: messageOf(error) }),
    );
  }

  /** Asks which host is the controller, unless it is this one. */
  async findController(nats: NatsConnection): Promise<void> {
    if (this.#isController) return;
    const { find } = subjects(this.#parts.host);
    const asked = performance.now();
    const run = await nats.request(find, '', { timeout: RENEWAL_MS }).then(
      (answer) => answer.string(),
      (error: unknown) => (error instanceof RequestError && error.isNoResponders() ? '' : undefined),
    );
    // A new one has come meanwhile, or it is only slow: then it is waited for as long as for its lease.
    if (asked < this.#heard || (run === undefined && asked - this.#heard < LEASE_MS)) return;
    this.#found(run || undefined, asked);
  }

  /** @param heard when it answered, or was asked without success */
  #found(run: string | undefined, heard: number): void {
    if (run !== undefined) this.#heard = heard;
    // Those of a controller that this host learns of only now may have begun already.
    if (this.#controllerRun !== undefined && run !== this.#controllerRun)
      this.break('the controller does not answer', (host) => host === CONTROLLER);
    this.#controllerRun = run;
  }

  /** A connection to the compute of a host. @throws Error at once if that holds no lease */
  dial(host: string): Duplex {
    if (!this.nats || !this.isReached) throw new Error('this server is not connected to NATS');
    if (!this.#parts.holds(host)) throw new Error(`the host ${host} holds no lease in the cluster`);
    const id = nuid.next();
    const { up, down } = subjects(host);
    return this.#streams.open(`${up}.${id}`, host, `${down}.${id}`);
  }

  /** A connection to the controller. @throws Error with the reason if there is none */
  dialController(): Duplex {
    if (!this.nats || !this.isReached) throw new Error('this host is not connected to NATS');
    if (this.#controllerRun === undefined) throw new Error('no host is the controller now');
    // Only this controller begins a stream with it: of two that both take themselves for it one would answer too much.
    const id = `${this.#controllerRun}-${nuid.next()}`;
    const { ask, answer } = subjects(this.#parts.host);
    return this.#streams.open(`${answer}.${id}`, CONTROLLER, `${ask}.${id}`);
  }
}
