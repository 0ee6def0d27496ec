import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { isSpecialInterface, networkInterfaces } from '../../src/host/network/interfaces.ts';
import { diskUsage, LoadMeter } from '../../src/host/processes/host-statistics.ts';

test('many listeners see the same load: figures are taken again only after a while', () => {
  const meter = new LoadMeter();
  const first = meter.usage().cpu_usage_percent;
  const end = performance.now() + 100;
  while (performance.now() < end);
  assert.equal(meter.usage().cpu_usage_percent, first);
});

test('the fill level of a disk is what df reports', async () => {
  const told = Number(execFileSync('df', ['--output=pcent', '/'], { encoding: 'utf8' }).match(/(\d+)%/)![1]);
  const measured = await diskUsage('/');
  assert.ok(Math.abs(Math.ceil(measured) - told) <= 1, `${measured} %, df: ${told} %`);
});

test('the loopback interface is reported with address, mask and its mark', async () => {
  const all = await networkInterfaces([]);
  assert.deepEqual(
    all.find(({ name }) => name === 'lo'),
    {
      id: 'lo',
      name: 'lo',
      ip_address: '127.0.0.1',
      netmask: '255.0.0.0',
      mac_address: '00:00:00:00:00:00',
      type: 'ethernet',
      special: true,
    },
  );
  assert.deepEqual(
    all.map(({ name }) => name),
    all.map(({ name }) => name).toSorted(),
  );
});

test('interfaces without an address are reported, too', async () => {
  const told = (await networkInterfaces([])).map(({ name }) => name);
  const there = execFileSync('ls', ['/sys/class/net'], { encoding: 'utf8' }).trim().split(/\s+/);
  assert.deepEqual(told, there.filter((name) => name !== 'bonding_masters').toSorted());
});

test('an administrator can restrict the interfaces that are reported', async () => {
  assert.deepEqual(
    (await networkInterfaces(['lo'])).map(({ name }) => name),
    ['lo'],
  );
  assert.deepEqual(await networkInterfaces(['none']), []);
});

for (const [name, special] of [
  ['eth0', false],
  ['enp3s0', false],
  ['wlan0', false],
  ['br0', false],
  ['tap7', false],
  ['lo', true],
  ['docker0', true],
  ['VIRBR0', true],
  ['vethab12', true],
  ['gns3tap0', true],
  ['lan', true],
  ['wifi', true],
  ['x-', true],
] as const) {
  test(`${name} is ${special ? 'special' : 'offered to users'}`, () => {
    assert.equal(isSpecialInterface(name), special);
  });
}
