// The subjects of NATS that hosts of a cluster use, and the bucket of leases.
import type { Msg } from '@nats-io/transport-node';

/** Names of hosts are parts of subjects. */
export const HOST_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/;

/** The bucket of leases: one key per host. */
export const BUCKET = 'labwire-hosts';
/** The stream in which NATS keeps it. */
export const BUCKET_STREAM = `KV_${BUCKET}`;
export const leaseOf = (host: string): string => `$KV.${BUCKET}.${host}`;
/** Calls of JetStream by which hosts read leases. */
export const LEASE_CALLS = [
  '$JS.API.INFO',
  ...['INFO', 'MSG.GET'].map((call) => `$JS.API.STREAM.${call}.${BUCKET_STREAM}`),
];

export const JOIN_SUBJECT = 'labwire.join';
export const JOIN_INBOX = '_INBOX_JOIN';

/** Where answers to a host arrive; no other host may read there. */
export const inboxPrefix = (host: string): string => `_INBOX.${host}`;

/** Where NATS takes answers to requests from another account. */
const OTHER_ACCOUNT = '_R_.';

/**
 * Whether a message is a request of its sender: the answer goes into the sender's inbox, or into the account of joined hosts. NATS does not
 * compare the subject for an answer with permissions, so that the controller could be made to publish in the place of another host.
 */
export const isRequest = ({ reply = '' }: Msg, inbox: string): boolean =>
  reply.startsWith(`${inbox}.`) || (reply.startsWith(OTHER_ACCOUNT) && inbox !== JOIN_INBOX);

/** Answers a request into the inbox of its sender alone. */
export function respond(message: Msg, inbox: string, body: string): void {
  if (isRequest(message, inbox)) message.respond(body);
}

/** The host that sent a message of the form `labwire.WHAT.HOST`, with or without more parts. */
export const senderOf = ({ subject }: Msg): string => subject.split('.')[2] as string;

/**
 * Frames for the far end of a link, from `host`, which is in the account of joined hosts or not. NATS lets these publish under their own
 * names only.
 */
export const framesTo = (far: { host: string; port: number }, host: string, isJoined: boolean): string => {
  const { framesHere, framesOfJoined } = subjects(far.host);
  return `${isJoined ? framesOfJoined : framesHere}.${host}.${far.port}`;
};

/** Sender, and port at the receiver, of such a subject. */
export function frameSubject(subject: string): { from: string; port: number } {
  const [from = '', port] = subject.split('.').slice(-2);
  return { from, port: Number(port) };
}

/** `up` and `down` (the controller calls a compute), `ask` and `answer` (a host passes a client on) are followed by the id of a stream. */
export const subjects = (host: string) => ({
  up: `labwire.up.${host}`,
  down: `labwire.down.${host}`,
  ask: `labwire.ask.${host}`,
  answer: `labwire.answer.${host}`,
  leave: `labwire.leave.${host}`,
  /** The controller alone answers. */
  find: `labwire.find.${host}`,
  /** A host asks the controller to hand its role over. */
  handOver: `labwire.hand-over.${host}`,
  /** A host that runs NATS asks here for the registry. */
  registry: `labwire.registry.${host}`,
  /** From hosts in the account of the controllers: followed by the sender and the port here. */
  framesHere: `labwire.frames.${host}`,
  /** The same from joined hosts. */
  framesOfJoined: `labwire.joined-frames.${host}`,
  framesOut: `labwire.joined-frames.*.${host}.*`,
});

/** A new controller says its run here, to all hosts, and one that ends. */
export const FOUND = 'labwire.found';

/** The log of the controller's changes. */
export const CHANGES_STREAM = 'labwire-changes';
export const CHANGES = 'labwire.changes';

export const AUDIT_STREAM = 'labwire-audit';
export const AUDIT = 'labwire.audit';

/** The bucket whose one key says who is the controller, and the key. */
export const CONTROLLER_BUCKET = 'labwire-controller';
export const CONTROLLER_STREAM = `KV_${CONTROLLER_BUCKET}`;
export const CONTROLLER_KEY = 'controller';

/** Objects: the last copy of the database, and files of labs by their content. */
export const OBJECTS = 'labwire-labs';
export const OBJECTS_STREAM = `OBJ_${OBJECTS}`;
export const DATABASE_OBJECT = 'database';
