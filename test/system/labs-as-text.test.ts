// Labs as text, by the executable on a server: planned, applied, applied again, changed, broken off and destroyed.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Client, client as newClient } from './client.ts';

const CLASS = `
name: Büro 1
variables: {net: 10.0.0}
nodes:
  PC{1..4}:
    template: VPCS
    config: |
      ip \${net}.\${n}/24
  SW 1: {type: ethernet_switch, z: 3}
  Hubä: {type: ethernet_hub, at: [300, 300]}
links:
  - PC{1..4}:e0 -- SW 1:{0..3}
  - link: Hubä -- SW 1
    filters: {packet_loss: 5}
    impairments: {preset: adsl}
drawings:
  - {svg: '<svg height="10" width="10"><rect/></svg>', at: [5, 6]}
`;

async function labwired(t: TestContext): Promise<{ client: Client; file: (text: string) => void }> {
  const client = await newClient(t);
  return { client, file: (text) => writeFileSync(join(client.daemon.directory, 'lab.yaml'), text) };
}

test('a lab is made as its file says, and a second apply does nothing', async (t) => {
  const { client, file } = await labwired(t);
  file(CLASS);
  assert.equal((await client.run('plan')).code, 2, 'there is something to do');
  assert.match(await client.say('apply'), /17 changes made/);
  assert.match(await client.say('plan'), /nothing to do/);
  const before = client.daemon.log.length;
  assert.match(await client.say('apply'), /^Lab "Büro 1" is as the file says\.$/);
  const methods = [...client.daemon.log.slice(before).matchAll(/request method=(\w+)/g)].map(([, method]) => method);
  assert.ok(methods.length > 0 && methods.every((method) => method === 'GET'), methods.join(' '));
  assert.match(await client.say('node', 'list'), /PC4[\s\S]*SW1[\s\S]*Hubä/);
});
