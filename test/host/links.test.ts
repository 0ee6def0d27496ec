import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keepFromHost } from '../../src/host/network/interface-programs.ts';
import {
  addAddress,
  changeLink,
  findLink,
  getLink,
  links,
  removeLink,
} from '../../src/host/network/kernel-interfaces.ts';
import { cablePair, cannotMakeInterfaces, ip, Namespace, removeAfter, uniqueName } from '../fabric/namespaces.ts';

test('the interfaces of the host are listed as the kernel knows them', async () => {
  const told = JSON.parse(await ip('-json', 'link', 'show', 'dev', 'lo'));
  assert.deepEqual(getLink('lo'), {
    index: 1,
    name: 'lo',
    kind: undefined,
    ethernet: false,
    up: told[0].flags.includes('UP'),
    running: told[0].flags.includes('LOWER_UP'),
    mtu: told[0].mtu,
    macAddress: '00:00:00:00:00:00',
    bridge: undefined,
    peer: undefined,
    leadsElsewhere: false,
    alias: '',
  });
  assert.ok(links().some(({ name }) => name === 'lo'));
});

test('a missing interface is reported by its name', () => {
  assert.equal(findLink('lw-no-such'), undefined);
  assert.equal(findLink('a name that is too long for an interface'), undefined);
  assert.throws(() => changeLink('lw-no-such', { up: true }), { code: 'conflict', message: /no interface lw-no-such/ });
});

test('an address without its prefix, or of no four numbers, is refused', () => {
  for (const address of ['192.0.2.1', '192.0.2.1/33', '192.0.2/24', '192.0.2.1/', '2001:db8::1/64'])
    assert.throws(() => addAddress('lo', address), { code: 'invalid' }, address);
});

test('a bridge is seen, brought up, and given an address and an interface', {
  skip: cannotMakeInterfaces,
}, async (t) => {
  const [bridge, member] = [uniqueName(), uniqueName()];
  removeAfter(t, bridge);
  removeAfter(t, member);
  await ip('link', 'add', bridge, 'type', 'bridge');
  changeLink(bridge, { up: true, mtu: 1400, macAddress: '02:00:5e:00:53:01' });
  assert.equal(getLink(bridge).macAddress, '02:00:5e:00:53:01');
  assert.deepEqual(
    { ...getLink(bridge), index: 0, running: true, macAddress: '' },
    {
      index: 0,
      name: bridge,
      kind: 'bridge',
      ethernet: true,
      up: true,
      running: true,
      mtu: 1400,
      macAddress: '',
      bridge: undefined,
      peer: undefined,
      leadsElsewhere: false,
      alias: '',
    },
  );
  addAddress(bridge, '198.51.100.129/25');
  const [{ addr_info: addresses }] = JSON.parse(await ip('-json', '-4', 'address', 'show', 'dev', bridge));
  assert.deepEqual(
    addresses.map(({ local, prefixlen, broadcast }: Record<string, unknown>) => [local, prefixlen, broadcast]),
    [['198.51.100.129', 25, '198.51.100.255']],
  );

  await ip('link', 'add', member, 'type', 'veth', 'peer', 'name', uniqueName());
  changeLink(member, { bridge, up: true });
  assert.equal(getLink(member).bridge, getLink(bridge).index);
  changeLink(member, { bridge: null });
  assert.equal(getLink(member).bridge, undefined);
  assert.equal(getLink(member).up, true);
  assert.throws(() => changeLink(member, { bridge: 'lo' }), { code: 'conflict', message: /lo is no bridge/ });
  await ip('link', 'delete', bridge);
  assert.equal(findLink(bridge), undefined);
});

test('an interface that is kept from the host reaches none of its addresses, nor says anything by itself', {
  skip: cannotMakeInterfaces,
}, async (t) => {
  const [outside, inside] = [uniqueName(), uniqueName()];
  const namespace = await Namespace.create(t);
  await ip('link', 'add', outside, 'type', 'veth', 'peer', 'name', inside);
  removeAfter(t, outside);
  await namespace.adopt(inside, '198.51.100.66/28');
  try {
    keepFromHost(outside);
  } catch (error) {
    return t.skip(`frames of guests cannot go by TAPs here: ${(error as Error).message}`);
  }
  keepFromHost(outside);
  changeLink(outside, { up: true });
  addAddress(outside, '198.51.100.65/28');
  const told = await namespace.run('sh', '-c', 'ping -c 2 -i 0.2 -W 1 198.51.100.65; ip neighbour');
  assert.match(told, /0 received/);
  assert.doesNotMatch(told, /lladdr/);
  assert.doesNotMatch(await ip('-6', 'address', 'show', 'dev', outside), /inet6/);
  assert.ok((await namespace.received(inside)) === 0);
});

test('an end of a pair knows the other one, has a note, and takes it along when it is removed', {
  skip: cannotMakeInterfaces,
}, async (t) => {
  const [one, two] = await cablePair(t);
  changeLink(one, { alias: 'project node' });
  assert.deepEqual([getLink(one).alias, getLink(two).alias], ['project node', '']);
  assert.deepEqual([getLink(one).peer, getLink(two).peer], [getLink(two).index, getLink(one).index]);
  removeLink(one);
  removeLink(one);
  assert.equal(findLink(two), undefined);
});
