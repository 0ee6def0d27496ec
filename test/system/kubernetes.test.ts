// The script of the manifests for Kubernetes, as their pods run it: hosts form a cluster on a NATS that is already there.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { nkeys } from '@nats-io/transport-node';
import { parse } from 'yaml';
import { Nats } from '../cluster/nats.ts';
import { freeTcpPort } from '../free-tcp-port.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { type Listed, noCluster } from './cluster-hosts.ts';
import { type Daemon, eventually, ownDaemon } from './daemon.ts';
import { executable } from './executable.ts';

interface Settings {
  kind: string;
  data: Record<string, string>;
}

const skip = noCluster();
/** A name of a Kubernetes node that looks like one of the StatefulSet's pods. */
const COMPUTE = 'labwire-0.example.org';

test('the pods of the manifests join the cluster once, the first one as its controller', { skip }, async (t) => {
  const directory = await scratchDirectory(t);
  const user = nkeys.createUser();
  const port = await freeTcpPort();
  writeFileSync(join(directory, 'lab.creds'), `${new TextDecoder().decode(user.getSeed())}\n`);
  writeFileSync(
    join(directory, 'nats.conf'),
    `listen: "127.0.0.1:${port}"\njetstream { store_dir: ${JSON.stringify(directory)} }\nauthorization { users: [{ nkey: ${user.getPublicKey()} }] }\n`,
  );
  await new Nats(t, join(directory, 'nats.conf')).start();
  const file = join(import.meta.dirname, '../../deploy/kubernetes/labwire.yaml');
  const { items } = parse(readFileSync(file, 'utf8')) as { items: Settings[] };
  const settings = items.find(({ kind }) => kind === 'ConfigMap') as Settings;
  writeFileSync(join(directory, 'join.sh'), settings.data['join.sh'] as string);
  const [program = ''] = executable();
  symlinkSync(program, join(directory, 'labwired'));
  const joins = (component: string, name: string, { state }: Daemon): string => {
    const { stdout, stderr, status } = spawnSync('/bin/sh', [join(directory, 'join.sh')], {
      encoding: 'utf8',
      env: {
        ...{ PATH: `${directory}${delimiter}${process.env['PATH']}`, CLUSTER: settings.data['CLUSTER'] },
        ...{ NATS_URL: `nats://127.0.0.1:${port}`, CREDENTIALS: join(directory, 'lab.creds') },
        ...{ COMPONENT: component, HOST_NAME: name, STATE: state },
      },
    });
    return `${status} ${stdout}${stderr}`;
  };
  // The server's own configuration must be one that it accepts.
  const config = (settings.data['labwired.conf'] as string).replace(/^port = .*\n/m, '');
  const daemon = (): Daemon => ownDaemon(t, { program: executable(), config, flags: ['--insecure'] });
  const [first, compute] = [daemon(), daemon()];
  // Before there is a controller it fails, and is tried again.
  assert.match(joins('compute', COMPUTE, compute), /^1 .*/);
  assert.match(joins('controller', 'labwire-0', first), /^0 /);
  assert.equal(joins('controller', 'labwire-0', first), '0 ');
  await first.start();
  await eventually(
    'the compute',
    () => joins('compute', COMPUTE, compute),
    (said) => /^0 .*has joined/s.test(said),
  );
  assert.equal(joins('compute', COMPUTE, compute), '0 ');
  await compute.start();
  const names = async (): Promise<string[]> =>
    ((await first.get('/v2/computes')) as Listed[]).filter(({ connected }) => connected).map(({ name }) => name);
  await eventually('its host', names, (found) => found.includes(COMPUTE.replaceAll('.', '-')));
});
