// Users of the cluster's own NATS: each connects with a claim (JWT) that a key of the cluster has signed, so that NATS admits new hosts
// without reading its configuration again. With users in its configuration, NATS 2.9 loses subscriptions of the other servers whenever it
// reads it: requests of a host then go unanswered, and streams find no leader, until NATS is restarted.
import { type Authenticator, type JwtAuth, jwtAuthenticator, nkeys } from '@nats-io/transport-node';
import { conflict } from '../failures.ts';
import type { Storage } from './layout.ts';
import { FOUND, inboxPrefix, JOIN_INBOX, JOIN_SUBJECT, LEASE_CALLS, leaseOf, subjects } from './subjects.ts';

type Keys = Storage['keys'];
export type CompleteKeys = Keys & { joined: string };

/** Signed at the same time, equal claims are equal texts: a difference means that NATS must read its configuration. */
const ISSUED = 1;
const UNLIMITED = { subs: -1, data: -1, payload: -1 };
/** What NATS replaces by the name in a user's claim. */
const OWN_NAME = '{{name()}}';

const text = (seed: Uint8Array): string => new TextDecoder().decode(seed);
const keyOf = (seed: string) => nkeys.fromSeed(new TextEncoder().encode(seed));
const publicKey = (seed: string): string => keyOf(seed).getPublicKey();
const part = (content: object): string => Buffer.from(JSON.stringify(content)).toString('base64url');

/** A key that identifies a host as a user of NATS: the seed stays on the host. */
export function newUser(): { seed: string; user: string } {
  const pair = nkeys.createUser();
  return { seed: text(pair.getSeed()), user: pair.getPublicKey() };
}

export function newKeys(): CompleteKeys {
  const account = (): string => text(nkeys.createAccount().getSeed());
  const operator = text(nkeys.createOperator().getSeed());
  return { operator, account: account(), joined: account(), member: account(), join: account(), system: account() };
}

/** An older release had no account for joined hosts. */
export const areComplete = (keys: Keys): keys is CompleteKeys => keys.joined !== undefined;
export const completed = (keys: Keys): CompleteKeys =>
  areComplete(keys) ? keys : { ...keys, joined: newKeys().joined };

/** @param issuer the seed of the key that signs */
function signed(issuer: string, subject: string, name: string, nats: object): string {
  const key = keyOf(issuer);
  const claim = { jti: name, iat: ISSUED, iss: key.getPublicKey(), name, sub: subject, nats: { ...nats, version: 2 } };
  const body = `${part({ typ: 'JWT', alg: 'ed25519-nkey' })}.${part(claim)}`;
  return `${body}.${Buffer.from(key.sign(new TextEncoder().encode(body))).toString('base64url')}`;
}

const all = (issuer: string, user: string, name: string): string =>
  signed(issuer, user, name, { ...UNLIMITED, type: 'user' });

/** With the permissions of the key that signs, in an account. */
const limited = (account: string, issuer: string, user: string, name: string): string =>
  signed(issuer, user, name, { issuer_account: publicKey(account), type: 'user' });

/** Whether a host only connects: it is in the account of joined hosts. */
export const isJoined = ({
  server,
  standby,
}: {
  server?: string | undefined;
  standby?: boolean | undefined;
}): boolean => server === undefined && standby !== true;

/** The claim of a host. One that runs NATS sees all messages in any case; one that may be the controller must. */
export function memberClaim(
  keys: CompleteKeys,
  { name, user, ...role }: { name: string; user: string; server?: string; standby?: boolean },
): string {
  const { account, joined, member } = keys;
  return isJoined(role) ? limited(joined, member, user, name) : all(account, user, name);
}

/** The claim of hosts that have only a token. It may ask to join, nothing else; the token decides. */
export const joinClaim = ({ account, join }: Keys): string => limited(account, join, newUser().user, 'join');

/** The CA's certificate carries the claim, so that a token need not. @throws Failure `conflict` */
export function joinUser(authority: string): Authenticator {
  const content = Buffer.from(authority.replace(/-----.*-----|\s/g, ''), 'base64').toString('latin1');
  const claim = /eyJ[\w-]+\.eyJ[\w-]+\.[\w-]{86}/.exec(content)?.[0];
  if (claim !== undefined) return authenticator(claim);
  throw conflict('The cluster was begun by an older release: begin it again with "labwired cluster init".');
}

/** Without the public key, by which NATS would look for the user in its configuration, and end the connection when it reads that. */
export function authenticator(claim: string, seed?: string): Authenticator {
  const full = jwtAuthenticator(claim, seed === undefined ? undefined : new TextEncoder().encode(seed));
  return (nonce) => ({ ...(full(nonce) as JwtAuth), nkey: '' });
}

/** As the user that manages NATS itself. */
export function systemUser({ system }: Keys): Authenticator {
  const { seed, user } = newUser();
  return authenticator(all(system, user, 'labwired'), seed);
}

/** Users of NATS allow all subjects that are not named unless there is a list. */
function memberPermissions(): { pub: object; sub: object } {
  const { up, down, ask, answer, find, leave, framesHere, framesOfJoined, framesOut } = subjects(OWN_NAME);
  return {
    pub: { allow: [leaseOf(OWN_NAME), ...LEASE_CALLS, `${up}.*`, `${ask}.*`, find, leave, framesOut] },
    sub: {
      allow: [
        ...[`${inboxPrefix(OWN_NAME)}.>`, `${down}.*`, `${answer}.*`, FOUND],
        ...[framesHere, framesOfJoined].map((frames) => `${frames}.>`),
      ],
    },
  };
}

interface Crossing {
  type: 'service' | 'stream';
  /** In the account of the controllers. */
  subject: string;
}

/**
 * What passes between the account of the controllers and that of joined hosts. NATS sends its answers to any subject that a request names,
 * without a comparison with permissions: with accounts of their own, such an answer stays among the joined hosts. Answers to a `service`
 * find their way back by themselves. A subject has one name in both: NATS 2.9 crashes when an answer is directed at one with wildcards that
 * has another name there.
 */
function crossings(): Crossing[] {
  const { up, down, ask, answer, find, leave, framesHere, framesOfJoined } = subjects('*');
  const [service, stream] = ['service', 'stream'] as const;
  return [
    // Frames of joined hosts have a subject of their own: under that of the stream, NATS would send them back a second time.
    ...[leaseOf('*'), ...LEASE_CALLS, `${up}.*`, `${ask}.*`, find, leave, `${framesOfJoined}.*.*`].map((subject) => ({
      type: service,
      subject,
    })),
    ...[`${down}.*`, `${answer}.*`, `${framesHere}.*.*`, FOUND].map((subject) => ({ type: stream, subject })),
  ];
}

/** What NATS must know: who signs claims, with which permissions, and the users of forgotten hosts. */
export function userConfiguration(keys: CompleteKeys, revoked: readonly string[]): object {
  const { operator, account, joined, member, join, system } = keys;
  const scope = (role: string, seed: string, template: object): object => ({
    ...{ kind: 'user_scope', key: publicKey(seed), role },
    template: { ...UNLIMITED, ...template },
  });
  const accountClaim = (seed: string, name: string, more: object, limits: object = {}): string =>
    signed(operator, publicKey(seed), name, {
      ...{ type: 'account', ...more },
      limits: { ...UNLIMITED, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1, ...limits },
    });
  const revocations = Object.fromEntries(revoked.map((user) => [user, ISSUED]));
  const mayJoin = { bearer_token: true, pub: { allow: [JOIN_SUBJECT] }, sub: { allow: [`${JOIN_INBOX}.>`] } };
  const controllers = {
    signing_keys: [scope('join', join, mayJoin)],
    exports: crossings().map(({ type, subject }) => ({ name: subject, type, subject })),
    revocations,
  };
  const hosts = {
    signing_keys: [scope('member', member, memberPermissions())],
    imports: crossings().map(({ type, subject }) => ({ name: subject, type, subject, account: publicKey(account) })),
    revocations,
  };
  const storage = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };
  return {
    operator: signed(operator, publicKey(operator), 'labwire', { type: 'operator' }),
    system_account: publicKey(system),
    resolver: 'MEMORY',
    resolver_preload: {
      [publicKey(account)]: accountClaim(account, 'LABWIRE', controllers, storage),
      [publicKey(joined)]: accountClaim(joined, 'JOINED', hosts),
      [publicKey(system)]: accountClaim(system, 'SYSTEM', {}),
    },
  };
}
