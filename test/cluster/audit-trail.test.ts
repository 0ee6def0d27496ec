// The audit trail of a cluster: lines of one controller reach the other hosts that may be it, each once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../system/daemon.ts';
import { threeMembers } from './hosts.ts';
import { Nats } from './nats.ts';
import { TurnHost } from './turn-host.ts';

const line = (account: string) => ({
  ...{ time: new Date().toISOString(), account, address: '192.0.2.9', action: 'POST /v2/templates' },
  ...{ objects: { template_id: 'one' }, status: 201 },
});

test('lines reach each other host once, also those of a time without NATS, and those before it came', async (t) => {
  const { files, members } = await threeMembers(t);
  const nats = await new Nats(t, files.path('nats.conf')).start();
  const [a, b] = ['a', 'b'].map((id) => new TurnHost(t, id, files, members[0]!)) as [TurnHost, TurnHost];
  const seenBy = (host: TurnHost, accounts: readonly string[]): Promise<unknown> =>
    eventually(
      'the lines',
      () => host.audit.map(({ account }) => account).join(),
      (found) => found === accounts.join(),
    );
  await a.connect();
  await a.leads();
  a.succession.sendAudit(line('before'));
  await b.connect();
  await seenBy(b, ['before']);
  await nats.stop();
  a.succession.sendAudit(line('meanwhile'));
  await nats.start();
  a.succession.sendAudit(line('after'));
  await seenBy(b, ['before', 'meanwhile', 'after']);
  // It begins again where it was, and what is no line is left out.
  await b.nats?.close();
  a.succession.sendAudit({ what: 'else' });
  a.succession.sendAudit(line('away'));
  await b.connect();
  await seenBy(b, ['before', 'meanwhile', 'after', 'away']);
  b.succession.sendAudit(line('other'));
  await seenBy(a, ['other']);
  assert.equal(b.audit.length, 4);
});
