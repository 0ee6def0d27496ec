// What the doctor reads out of the kernel's files.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { numberRanges, socketRows, softLimit } from '../../src/doctor/kernel-files.ts';
import { taskGroups } from '../../src/doctor/limits.ts';
import { reserving, sharedWithKernel } from '../../src/doctor/port-ranges.ts';
import { capabilitiesIn } from '../../src/host/processes/capabilities.ts';
import { cannotUnshare } from '../host/missing.ts';

test('ports in use are found among the sockets of the host', () => {
  const table = [
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
    '   0: 0100007F:0C08 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0 100 0 0 10 0',
    '   1: 00000000000000000000000001000000:1388 00000000000000000000000000000000:0000 01 0:0 0:0 0 0 0 4712 1 0',
    '',
  ].join('\n');
  assert.deepEqual(socketRows(table), [
    { port: 3080, listening: true, inode: '4711' },
    { port: 5000, listening: false, inode: '4712' },
  ]);
});

test('limits are read by their names', () => {
  const limits = 'Max processes   96365   unlimited   processes\nMax open files   unlimited   unlimited   files';
  assert.equal(softLimit('Max processes', limits), 96_365);
  assert.equal(softLimit('Max open files', limits), Number.POSITIVE_INFINITY);
  assert.equal(softLimit('Max locks', limits), undefined);
});

test('ports that the kernel gives to others are reported, unless they are reserved', () => {
  assert.equal(sharedWithKernel(20_000, 30_000, '32768\t60999', ''), undefined);
  assert.deepEqual(sharedWithKernel(20_000, 40_000, '32768\t60999', ''), [32_768, 40_000]);
  assert.deepEqual(sharedWithKernel(20_000, 40_000, '1024 65535', '20000-30000'), [20_000, 40_000]);
  assert.equal(sharedWithKernel(20_000, 40_000, '32768 60999', '8080,32000-41000'), undefined);
  assert.equal(sharedWithKernel(20_000, 40_000, '', ''), undefined);
  assert.deepEqual(numberRanges('8080,32000-41000'), [
    [8080, 8080],
    [32_000, 41_000],
  ]);
});

test('commands that reserve ports keep what those before them have reserved', {
  skip: cannotUnshare('network namespaces', '--net', 'sysctl', '-w', 'net.ipv4.ip_local_reserved_ports='),
}, () => {
  const script = [reserving('5000-10000'), reserving('20000-30000')].join('\n');
  const read = 'cat /proc/sys/net/ipv4/ip_local_reserved_ports';
  const said = execFileSync('unshare', ['--net', 'sh', '-c', `${script}\n${read}`], { encoding: 'utf8' });
  assert.equal(said.trim().split('\n').at(-1), '5000-10000,20000-30000');
});

test('every control group that limits processes is looked at, in both versions', () => {
  assert.deepEqual(taskGroups('0::/user.slice/user-1000.slice'), [
    '/sys/fs/cgroup/user.slice',
    '/sys/fs/cgroup/user.slice/user-1000.slice',
  ]);
  assert.deepEqual(taskGroups('9:name=systemd:/a\n8:pids:/docker/b\n4:memory:/c\n0::/'), [
    '/sys/fs/cgroup/pids/docker',
    '/sys/fs/cgroup/pids/docker/b',
  ]);
});

test('capabilities are read out of their mask', () => {
  assert.deepEqual(capabilitiesIn('CapEff:\t0000000000003000\n'), ['CAP_NET_ADMIN', 'CAP_NET_RAW']);
  assert.deepEqual(capabilitiesIn('CapPrm:\t0000000000003000\nCapEff:\t0000000000002000\n'), ['CAP_NET_RAW']);
  assert.deepEqual(capabilitiesIn(''), []);
});
