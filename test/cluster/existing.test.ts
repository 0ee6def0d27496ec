// A cluster on an existing NATS, with users of its own.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { nkeys } from '@nats-io/transport-node';
import { objectsOf } from '../../src/cluster/objects.ts';
import { DATABASE_OBJECT } from '../../src/cluster/subjects.ts';
import { freeTcpPort } from '../free-tcp-port.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { eventually } from '../system/daemon.ts';
import { missing } from '../system/lab.ts';
import { Host, refused } from './joined-host.ts';
import { Nats } from './nats.ts';
import { PUT, TurnHost } from './turn-host.ts';

const skip = missing('nats-server');

type Key = ReturnType<typeof nkeys.createUser>;
const seedOf = (key: Key): string => new TextDecoder().decode(key.getSeed());
const base64 = (bytes: string | Uint8Array): string => Buffer.from(bytes).toString('base64url');

/** A claim of NATS, signed. */
function jwt(issuer: Key, subject: Key, name: string, nats: object): string {
  const claim = { jti: name, iat: 1, iss: issuer.getPublicKey(), name, sub: subject.getPublicKey(), nats };
  const text = `${base64('{"typ":"JWT","alg":"ed25519-nkey"}')}.${base64(JSON.stringify(claim))}`;
  return `${text}.${base64(issuer.sign(new TextEncoder().encode(text)))}`;
}

/** NATS with an operator, as companies have it, and the credentials of a user. */
function operated(): { configuration: string[]; credentials: string } {
  const [operator, system, account, user] = [
    nkeys.createOperator(),
    nkeys.createAccount(),
    nkeys.createAccount(),
    nkeys.createUser(),
  ] as const;
  const none = { subs: -1, data: -1, payload: -1 };
  const limits = { ...none, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };
  const storage = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };
  const accounts = [
    [system, jwt(operator, system, 'SYS', { limits, type: 'account', version: 2 })],
    [account, jwt(operator, account, 'LABS', { limits: { ...limits, ...storage }, type: 'account', version: 2 })],
  ] as const;
  const token = jwt(account, user, 'labwire', { ...none, pub: {}, sub: {}, type: 'user', version: 2 });
  return {
    configuration: [
      `operator: ${jwt(operator, operator, 'company', { type: 'operator', version: 2 })}`,
      `system_account: ${system.getPublicKey()}`,
      'resolver: MEMORY',
      `resolver_preload { ${accounts.map(([key, text]) => `${key.getPublicKey()}: ${text}`).join('\n')} }`,
    ],
    credentials: `-----BEGIN NATS USER JWT-----\n${token}\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n${seedOf(user)}\n------END USER NKEY SEED------\n`,
  };
}

/** The permissions that docs/cluster.md asks for. */
const BOTH = ['labwire.>', '_INBOX_JOIN.>', '_INBOX.>'];
const KEPT = ['$KV.labwire-hosts.>', '$KV.labwire-controller.>', '$O.labwire-labs.>', '$JS.API.>', '$JS.FC.>'];
const DOCUMENTED = { publish: [...BOTH, ...KEPT], subscribe: BOTH };

function withUser(): { configuration: string[]; credentials: string } {
  const user = nkeys.createUser();
  return {
    configuration: [
      `authorization { users: [{ nkey: ${user.getPublicKey()}, permissions: ${JSON.stringify(DOCUMENTED)} }] }`,
    ],
    credentials: `${seedOf(user)}\n`,
  };
}

async function served(
  t: TestContext,
  { configuration, credentials }: ReturnType<typeof withUser>,
  storage = true,
): Promise<{ nats: string; credentials: string }> {
  const directory = await scratchDirectory(t);
  const port = await freeTcpPort();
  const lines = [`listen: "127.0.0.1:${port}"`, ...configuration];
  if (storage) lines.push(`jetstream { store_dir: ${JSON.stringify(directory)} }`);
  writeFileSync(join(directory, 'nats.conf'), lines.join('\n'));
  writeFileSync(join(directory, 'credentials'), credentials);
  await new Nats(t, join(directory, 'nats.conf')).start();
  return { nats: `nats://127.0.0.1:${port}`, credentials: join(directory, 'credentials') };
}

for (const [kind, make] of [
  ['an operator', operated],
  ['users', withUser],
] as const)
  test(`hosts form a cluster on a NATS with ${kind}, with one file of credentials`, { skip }, async (t) => {
    const there = await served(t, make());
    const [a, b, second] = ['a', 'b', 'b'].map((name) => new Host(t, name)) as [Host, Host, Host];
    assert.match(await a.run('init', undefined, { name: 'lab', ...there }), /cluster join --nats nats:/);
    await refused(b.run('join', undefined, there), /controller of the cluster at .* does not answer.*start labwired/);
    await a.takePart();
    assert.match(await b.run('join', undefined, there), /b, has joined the cluster "lab"/);
    await refused(second.run('join', undefined, there), /already a host "b"/);
    await refused(
      second.run('init', undefined, { name: 'other', ...there }),
      /uses this account of NATS already \(a\)/,
    );
    await b.start((stream) => void stream.pipe(stream));
    await eventually('b', () => a.held.has('b'));
    const stream = a.cluster!.dial('b');
    const echoed = new Promise<string>((resolve) => stream.once('data', (data) => resolve(String(data))));
    stream.write('hello');
    assert.equal(await echoed, 'hello');
    await refused(a.run('token'), /an existing NATS.*join --nats/);
    assert.match(
      await b.run('status'),
      /^cluster lab, seen from b: the controller is a$[\s\S]*^a .*no$[\s\S]*^b .*no$/m,
    );
    assert.equal((await a.doctor()).detail, 'lab, as a (the host of "init"); 2 hosts hold a lease');
    // It has the credentials, but takes part no more.
    assert.match(await a.run('forget', 'b'), /still has the credentials of NATS/);
    await eventually('a without b', () => a.forgotten.includes('b'));
    a.held.delete('b');
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    assert.equal(a.held.has('b'), false);
  });

test('hosts take turns at being the controller with the documented permissions', { skip }, async (t) => {
  const there = await served(t, withUser());
  const [a, b] = ['a', 'b'].map((name) => new Host(t, name)) as [Host, Host];
  await a.run('init', undefined, { name: 'lab', ...there });
  await a.takePart();
  const takesTurns = async ({ files }: Host): Promise<boolean> => files.takesTurns(await files.member());
  assert.equal(await takesTurns(a), false);
  assert.match(await b.run('join', undefined, { ...there, standby: true }), /begins to keep the log/);
  assert.deepEqual([await takesTurns(a), await takesTurns(b)], [true, true]);
  const turns = async (name: string, { files }: Host): Promise<TurnHost> =>
    new TurnHost(t, name, files, await files.member());
  const [one, other] = [await turns('a', a), await turns('b', b)];
  await one.connect();
  await (await one.leads()).run(PUT, 'one');
  await other.connect();
  await eventually('b to know the controller', () => other.succession.controller?.id === 'a');
  // Without it b could not take over.
  const isStored = async () => (await objectsOf(one.nats!)).has(DATABASE_OBJECT);
  await eventually('a copy of the database', () => isStored().catch(() => false));
  await one.nats?.close();
  assert.deepEqual(await (await other.leads()).all('SELECT id FROM document'), [{ id: 'one' }]);
});

test('a NATS without JetStream, other credentials and a wrong address are refused with the reason', {
  skip,
}, async (t) => {
  const a = new Host(t, 'a');
  const there = await served(t, withUser(), false);
  const init = (more: object): Promise<string> => a.run('init', undefined, { name: 'lab', ...there, ...more });
  await refused(init({}), /account needs JetStream/);
  await refused(init({ credentials: (await served(t, withUser())).credentials }), /does not accept the credentials/);
  await refused(init({ credentials: join(a.state, 'none') }), /--credentials: .*none.*Name the file/);
  await refused(init({ nats: 'http://127.0.0.1' }), /--nats: .* write nats:\/\/HOST:PORT/);
  await refused(init({ nats: `nats://127.0.0.1:${await freeTcpPort()}` }), /nothing listens there/);
  assert.equal(await a.files.membership(), undefined);
});
