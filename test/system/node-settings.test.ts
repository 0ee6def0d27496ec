// `--set` of nodes by command: names and values as the API has them, and nothing half done.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { client } from './client.ts';

interface NodeObject {
  name: string;
  symbol: string;
  x: number;
  console: number;
  properties: Record<string, unknown>;
}

test('nodes are made of a type and changed, with settings that are checked by their names and forms', async (t) => {
  const labwired = await client(t);
  await labwired.say('lab', 'create', 'Büro');
  await labwired.fails(2, /--type TYPE/, 'node', 'create', 'x');
  await labwired.fails(2, /--template TEMPLATE/, 'node', 'create', 'x', '--type', 'vpcs', '--template', 'VPCS');
  await labwired.fails(2, /--type "qemo": did you mean "qemu"\?/, 'node', 'create', '--type', 'qemo');
  await labwired.fails(2, /--set rma: .*did you mean "ram"\?/, 'node', 'create', '--type', 'qemu', '--set', 'rma=5');
  await labwired.fails(2, /"ram": write NAME=VALUE/, 'node', 'create', '--type', 'qemu', '--set', 'ram');
  await labwired.fails(2, /ram="much": write a whole number/, 'node', 'create', '--type', 'qemu', '--set', 'ram=much');
  await labwired.fails(
    2,
    /boot_priority="q": write c, d, /,
    'node',
    'create',
    '--type',
    'qemu',
    '--set',
    'boot_priority=q',
  );
  await labwired.fails(2, /--set node_id: .*no such setting/, 'node', 'create', '--type', 'vpcs', '--set', 'node_id=1');
  assert.equal(await labwired.say('node', 'list', '-q'), '', 'nothing was made');

  const say = async (...words: string[]): Promise<NodeObject> =>
    JSON.parse(await labwired.say(...words, '--json')) as NodeObject;
  const hub = await say(
    'node',
    'create',
    'Hub ä',
    '--type',
    'ethernet_hub',
    '--set',
    'ports_mapping=[{"name":"p0","port_number":0}]',
  );
  assert.deepEqual(hub.properties['ports_mapping'], [{ name: 'p0', port_number: 0 }]);
  const symbol = ':/symbols/router.svg';
  const pc = await say('node', 'create', '--template', 'VPCS', '--set', `symbol=${symbol}`);
  assert.equal(pc.symbol, symbol);
  await labwired.fails(1, /console/, 'node', 'create', 'broken', '--template', 'VPCS', '--set', 'console=70000');
  assert.equal((await labwired.say('node', 'list', '-q')).split('\n').length, 2, 'the one that could not be is gone');
  const taken = `console=${pc.console}`;
  const refused = new RegExp(`--set ${taken}: the server cannot give this port`);
  for (const kind of [
    ['--type', 'vpcs'],
    ['--template', 'VPCS'],
  ])
    await labwired.fails(1, refused, 'node', 'create', ...kind, '--set', taken);
  const free = pc.console + 50;
  const other = await say('node', 'create', '--type', 'vpcs', '--set', `console=${free}`);
  assert.equal(other.console, free);
  await labwired.fails(1, refused, 'node', 'update', other.name, '--set', taken);
  assert.match(
    await labwired.say('node', 'list'),
    new RegExp(`${other.name} +vpcs +stopped +telnet ${free} `),
    'as it was',
  );
  await labwired.say('node', 'delete', other.name);
  assert.equal((await labwired.say('node', 'list', '-q')).split('\n').length, 2, 'nothing else was made');

  await labwired.say('node', 'update', pc.name, '--name', 'Ünï', '--at=7,8');
  await labwired.say('node', 'update', 'Ünï', hub.name, '--set', 'symbol=:/symbols/cloud.svg');
  const nodes = JSON.parse(await labwired.say('node', 'list', '--json')) as NodeObject[];
  assert.deepEqual(
    nodes.map((node) => node.symbol),
    [':/symbols/cloud.svg', ':/symbols/cloud.svg'],
  );
  assert.equal(nodes.find(({ name }) => name === 'Ünï')?.x, 7);
  await labwired.fails(2, /Say what to change/, 'node', 'update', 'Ünï');
  await labwired.fails(2, /for one node alone/, 'node', 'update', 'Ünï', hub.name, '--name', 'x');
});
