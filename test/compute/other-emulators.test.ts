// Nodes of TraceNG, VirtualBox and VMware on a host that has none of them, and with programs in their place that note what they are told.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Pairs, pairsText, parsePairs, readPairs, writePairs } from '../../src/compute/emulators/vmware/files.ts';
import { vmnets } from '../../src/compute/emulators/vmware/machines.ts';
import { attachAdapters, detachAdapters } from '../../src/compute/emulators/vmware/vmx.ts';
import { Client } from '../consoles/harness.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { eventually } from '../system/daemon.ts';
import { callsIn, script, serialPort, VBOX, VMRUN, VMWARE } from './machine-programs.ts';
import { startLab } from './support.ts';

test('a TraceNG is kept and linked like any node, and says that its program is one of Windows', async (t) => {
  const lab = await startLab(t);
  const project = await lab.project();
  const node = await lab.node(project, 'traceng', { console_type: 'none', ip_address: '192.0.2.1' });
  const made = await lab.expect(200, 'GET', node);
  const { node_id, project_id, node_directory, ...rest } = made;
  assert.deepEqual(rest, {
    name: 'N1',
    status: 'stopped',
    console: null,
    console_type: 'none',
    command_line: '',
    ip_address: '192.0.2.1',
    default_destination: '',
  });
  assert.ok(node_directory.endsWith(`/project-files/traceng/${node_id}`));
  const changed = await lab.expect(200, 'PUT', node, { default_destination: '192.0.2.9', name: 'T' });
  assert.deepEqual([changed.default_destination, changed.ip_address, changed.name], ['192.0.2.9', '192.0.2.1', 'T']);
  for (const path of ['/start', '/reload']) {
    const refused = await lab.expect(409, 'POST', `${node}${path}`, { destination: '192.0.2.9' });
    assert.equal(refused.exception, 'TraceNGError');
    assert.match(refused.message, /Windows/);
  }
  await lab.expect(400, 'POST', `${node}/start`, { destination: 1 });
  for (const path of ['/stop', '/suspend']) await lab.expect(204, 'POST', `${node}${path}`);
  const nio = { type: 'nio_udp', lport: 15_990, rhost: '127.0.0.1', rport: 15_991 };
  await lab.expect(201, 'POST', `${node}/adapters/7/ports/0/nio`, nio);
  await lab.expect(409, 'POST', `${node}/adapters/0/ports/1/nio`, nio);
  await lab.expect(204, 'DELETE', `${node}/adapters/0/ports/0/nio`);
});

test('a TraceNG with an invalid address is refused and not created', async (t) => {
  const lab = await startLab(t);
  const project = await lab.project();
  const body = { name: 'T', node_id: '11111111-2222-4333-8444-555555555555', ip_address: '1.2.3' };
  const refused = await lab.expect(409, 'POST', `${project}/traceng/nodes`, body);
  assert.equal(refused.exception, 'TraceNGError');
  assert.match(refused.message, /^ip_address: /);
  await lab.expect(404, 'GET', `${project}/traceng/nodes/${body.node_id}`);
});

for (const { kind, exception, body, setting } of [
  { kind: 'virtualbox', exception: 'VirtualBoxError', body: { vmname: 'x' }, setting: /vboxmanage_path/ },
  {
    kind: 'vmware',
    exception: 'VMwareError',
    body: { vmx_path: '/x.vmx', linked_clone: false },
    setting: /vmrun_path/,
  },
]) {
  test(`without its program ${kind} refuses nodes and lists, and says how it is had`, async (t) => {
    const lab = await startLab(t);
    const project = await lab.project();
    for (const [method, path] of [
      ['POST', `${project}/${kind}/nodes`],
      ['GET', `/${kind}/vms`],
    ] as const) {
      const refused = await lab.expect(409, method, path, method === 'POST' ? { name: 'V', ...body } : undefined);
      assert.equal(refused.exception, exception);
      assert.match(refused.message, setting);
    }
    await lab.expect(400, 'POST', `${project}/${kind}/nodes`, { name: 'V', ...body, x: 1 });
  });
}

async function virtualBox(t: TestContext) {
  const directory = await scratchDirectory(t);
  const path = script(join(directory, 'VBoxManage'), VBOX);
  writeFileSync(join(directory, 'state'), 'poweroff\n');
  const lab = await startLab(t, { vboxmanage_path: path, console: [17_900, 17_909], udp: [17_910, 17_939] });
  return { directory, lab, calls: () => callsIn(directory), project: await lab.project() };
}

const pipeOf = (folder: string, node: string): string => join(tmpdir(), folder, node.split('/').at(-1)!);

test('a machine has no console in a folder that another user may have made', async (t) => {
  const { lab, calls, project } = await virtualBox(t);
  const [temporary, foreign, before] = [await scratchDirectory(t), await scratchDirectory(t), process.env.TMPDIR];
  process.env.TMPDIR = temporary;
  t.after(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  });
  const node = await lab.node(project, 'virtualbox', { vmname: 'web', adapters: 1, headless: true });
  const folder = join(temporary, 'gns3_vbox');
  const refuses = async (): Promise<void> => {
    const refused = await lab.expect(409, 'POST', `${node}/start`);
    assert.match(refused.message, /gns3_vbox belongs to another user/);
    assert.ok(calls().every((line) => !line.includes('startvm')));
  };
  symlinkSync(foreign, folder);
  await refuses();
  rmSync(folder);
  if (process.getuid!() === 0) {
    mkdirSync(folder);
    chownSync(folder, 12_345, 12_345);
    await refuses();
    rmSync(folder, { recursive: true });
  }
  mkdirSync(folder);
  chmodSync(folder, 0o777);
  const started = lab.expect(204, 'POST', `${node}/start`);
  await eventually('the machine to start', () => calls().some((line) => line.includes('startvm')));
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  await serialPort(t, pipeOf('gns3_vbox', node));
  await started;
});

test('VirtualBox is asked to start, link, suspend and end a machine, whose frames and console come here', async (t) => {
  const { lab, calls, project } = await virtualBox(t);
  assert.deepEqual(await lab.expect(200, 'GET', '/virtualbox/vms'), [{ vmname: 'web', ram: 512 }]);
  calls();
  const node = await lab.node(project, 'virtualbox', { vmname: 'web', adapters: 2, ram: 600, headless: true });
  const made = await lab.expect(200, 'GET', node);
  assert.deepEqual(
    [made.ram, made.vmname, made.node_directory, made.adapter_type, made.linked_clone],
    [600, 'web', null, 'Intel PRO/1000 MT Desktop (82540EM)', false],
  );
  assert.deepEqual(calls(), [
    'list systemproperties',
    'showvminfo --machinereadable -- web',
    'modifyvm UUID --memory 600',
  ]);

  const peer = createSocket('udp4').bind(0, '127.0.0.1');
  await once(peer, 'listening');
  t.after(() => peer.close());
  const { udp_port: lport } = await lab.expect(201, 'POST', `${project}/ports/udp`, {});
  const nio = { type: 'nio_udp', lport, rhost: '127.0.0.1', rport: peer.address().port };
  await lab.expect(201, 'POST', `${node}/adapters/0/ports/0/nio`, nio);
  const taken = await lab.expect(409, 'POST', `${node}/adapters/1/ports/0/nio`, { ...nio, lport: 17_939 });
  assert.match(taken.message, /attached to nat; set use_any_adapter/);
  calls();

  const started = lab.expect(204, 'POST', `${node}/start`);
  await eventually(
    'the machine to start',
    () => readFileSync(join(dirname(lab.config.VirtualBox.vboxmanage_path), 'calls'), 'utf8'),
    (text) => text.includes('startvm'),
  );
  await serialPort(t, pipeOf('gns3_vbox', node));
  await started;
  const told = calls();
  const set = told.find((line) => line.startsWith('modifyvm'))!;
  const [, sport, dport] = /sport=(\d+) --nicproperty1 dest=127\.0\.0\.1 --nicproperty1 dport=(\d+)/.exec(set)!;
  assert.match(
    set,
    /^modifyvm UUID --nictrace1 off --nictype1 82540EM --nic1 generic --nicgenericdrv1 UDPTunnel --nicproperty1 sport=/,
  );
  assert.match(
    set,
    / --cableconnected1 on --nic3 none .*--nic8 none --uart1 0x3F8 4 --uartmode1 server \/.*gns3_vbox\//,
  );
  assert.doesNotMatch(set, /--nic2 /);
  assert.ok(told.includes('startvm UUID --type headless'));
  assert.ok(told.includes('guestproperty set UUID NameInGNS3 N1'));

  // As the machine's adapter would.
  const adapter = createSocket('udp4').bind(Number(sport), '127.0.0.1');
  await once(adapter, 'listening');
  t.after(() => adapter.close());
  const came = once(peer, 'message');
  adapter.send(Buffer.alloc(60, 7), Number(dport), '127.0.0.1');
  assert.equal((await came)[0].length, 60);

  const console = await Client.open(t, made.console);
  console.send('hello');
  await console.sees(/hello/);
  await lab.expect(204, 'POST', `${node}/suspend`);
  assert.equal((await lab.expect(200, 'GET', node)).status, 'suspended');
  await lab.expect(204, 'POST', `${node}/resume`);
  await lab.expect(204, 'POST', `${node}/reload`);
  await lab.expect(204, 'DELETE', `${node}/adapters/0/ports/0/nio`);
  const rest = calls().filter((line) => line.startsWith('controlvm'));
  assert.deepEqual(
    rest,
    ['pause', 'resume', 'reset', 'setlinkstate1 off'].map((verb) => `controlvm UUID ${verb}`),
  );
  await lab.expect(204, 'POST', `${node}/stop`);
  const last = calls();
  assert.ok(last.includes('controlvm UUID poweroff'));
  assert.ok(last.includes('modifyvm UUID --uart1 off --nictrace1 off --cableconnected1 off --nic1 null'));
  assert.deepEqual((await lab.expect(200, 'GET', '/network/ports')).udp_ports, []);
});

test('a suspended machine of VirtualBox goes on to be shut down, and its saved state outlives a failed start', async (t) => {
  const { directory, lab, calls, project } = await virtualBox(t);
  const settings = { vmname: 'web', console_type: 'none', on_close: 'shutdown_signal' };
  const node = await lab.node(project, 'virtualbox', settings);
  await lab.expect(204, 'POST', `${node}/start`);
  await lab.expect(204, 'POST', `${node}/suspend`);
  calls();
  await lab.expect(204, 'POST', `${node}/stop`);
  const verbs = calls().filter((line) => line.startsWith('controlvm'));
  assert.deepEqual(verbs, ['controlvm UUID resume', 'controlvm UUID acpipowerbutton']);

  writeFileSync(join(directory, 'state'), 'saved');
  writeFileSync(join(directory, 'full'), '');
  assert.match((await lab.expect(409, 'POST', `${node}/start`)).message, /no memory/);
  const used = (): boolean => calls().includes('guestproperty delete UUID SavedByGNS3');
  assert.equal(used(), false);
  rmSync(join(directory, 'full'));
  await lab.expect(204, 'POST', `${node}/start`);
  assert.equal(used(), true);
  await lab.expect(204, 'POST', `${node}/stop`);
});

test('what VirtualBox refuses is reported in its words, and a machine has one node', async (t) => {
  const { directory, lab, project } = await virtualBox(t);
  const node = await lab.node(project, 'virtualbox', { vmname: 'web', console_type: 'none' });
  await lab.expect(409, 'POST', `${project}/virtualbox/nodes`, { name: 'N2', vmname: 'other', adapters: 9 });
  writeFileSync(join(directory, 'broken'), '');
  const refused = await lab.expect(409, 'POST', `${node}/start`);
  assert.equal(refused.exception, 'VirtualBoxError');
  assert.match(refused.message, /it is broken/);
  assert.equal((await lab.expect(200, 'GET', node)).status, 'stopped');
  assert.deepEqual((await lab.expect(200, 'GET', '/network/ports')).udp_ports, []);

  // One that does not stop can be deleted, and made again.
  rmSync(join(directory, 'broken'));
  await lab.expect(204, 'POST', `${node}/start`);
  writeFileSync(join(directory, 'broken'), '');
  await lab.expect(204, 'DELETE', node);
  await lab.told('log.warning', ({ message }) => /^N1 is deleted, but its program .*: .*it is broken/.test(message));
  assert.deepEqual((await lab.expect(200, 'GET', '/network/ports')).udp_ports, []);
  await lab.expect(404, 'GET', node);
  rmSync(join(directory, 'broken'));
  writeFileSync(join(directory, 'state'), 'poweroff');
  await lab.node(project, 'virtualbox', { vmname: 'web', console_type: 'none', node_id: node.split('/').at(-1) });
});

test('VMware is asked to start, pause and end a machine, whose file is as it was afterwards', async (t) => {
  const directory = await scratchDirectory(t);
  const path = script(join(directory, 'vmrun'), VMRUN);
  script(join(directory, 'vmware'), VMWARE);
  writeFileSync(join(directory, 'calls'), '');
  const vmx = join(directory, 'Übung.vmx');
  writeFileSync(vmx, '#!/usr/bin/vmware\n.encoding = "UTF-8"\nDisplayName = "web é"\nmemsize = "64"\n');
  const lab = await startLab(t, { vmrun_path: path, console: [17_940, 17_949], udp: [17_950, 17_959] });
  const project = await lab.project();
  const body = { vmx_path: vmx, linked_clone: false, headless: true };
  const node = await lab.node(project, 'vmware', body);
  const missing = { name: 'N2', ...body, vmx_path: `${vmx}x` };
  assert.match(
    (await lab.expect(409, 'POST', `${project}/vmware/nodes`, missing)).message,
    /^vmx_path: there is no machine/,
  );
  writeFileSync(join(directory, 'running'), `${vmx}\n`);
  assert.match((await lab.expect(409, 'POST', `${node}/start`)).message, /runs in VMware already/);
  rmSync(join(directory, 'running'));
  writeFileSync(join(directory, 'calls'), '');
  const started = lab.expect(204, 'POST', `${node}/start`);
  await eventually(
    'the machine to start',
    () => readFileSync(join(directory, 'calls'), 'utf8'),
    (text) => text.includes('start'),
  );
  const running = parsePairs(readFileSync(vmx));
  assert.equal(running.get('serial0.filetype'), 'pipe');
  assert.equal(running.get('displayname'), 'web é');
  await serialPort(t, pipeOf('gns3_vmware', node));
  await started;
  const console = await Client.open(t, (await lab.expect(200, 'GET', node)).console);
  console.send('hello');
  await console.sees(/hello/);
  const other = join(directory, 'other.vmx');
  writeFileSync(other, 'displayname = "other"\n');
  const whole = await lab.expect(200, 'GET', node);
  const more = { name: 'Other', console: 17_945, adapters: 3 };
  for (const [change, words] of [
    [{ vmx_path: other }, /^vmx_path: stop N1 before/],
    [{ linked_clone: true }, /^linked_clone: /],
    [{ console_type: 'none' }, /^console_type: stop N1/],
  ] as const) {
    const refused = await lab.expect(409, 'PUT', node, { ...more, ...change });
    assert.match(refused.message, words);
    assert.deepEqual(await lab.expect(200, 'GET', node), whole);
  }
  for (const verb of ['suspend', 'resume', 'reload', 'stop']) await lab.expect(204, 'POST', `${node}/${verb}`);
  assert.deepEqual(readFileSync(join(directory, 'calls'), 'utf8').trim().split('\n'), [
    '-T ws list',
    ...[`start ${vmx} nogui`, `pause ${vmx}`, `unpause ${vmx}`, `reset ${vmx}`, `stop ${vmx}`].map(
      (words) => `-T ws ${words}`,
    ),
  ]);
  assert.match(readFileSync(vmx, 'utf8'), /^#!.*\/vmware\n\.encoding = "UTF-8"\n/);
  const gone = await lab.expect(409, 'PUT', node, { ...more, vmx_path: `${vmx}x` });
  assert.match(gone.message, /^vmx_path: there is no machine/);
  const second = await lab.node(project, 'vmware', { name: 'N2', ...body, vmx_path: other });
  await lab.expect(204, 'DELETE', second);
  const changed = await lab.expect(200, 'PUT', node, { ...more, vmx_path: other, linked_clone: false });
  assert.deepEqual(
    [changed.vmx_path, changed.name, changed.console, changed.adapters],
    [other, ...Object.values(more)],
  );
  await lab.node(project, 'vmware', { name: 'N3', ...body });
});

test('a file of VMware keeps the encoding that it names', async (t) => {
  const path = join(await scratchDirectory(t), 'web.vmx');
  const bytes = Buffer.from('.encoding = "windows-1252"\ndisplayname = "café"\n', 'latin1');
  writeFileSync(path, bytes);
  await writePairs(path, await readPairs(path));
  assert.deepEqual(readFileSync(path), bytes);
});

test('a file of VMware is replaced as a whole: also behind a link, and with its mode and owner', async (t) => {
  const directory = await scratchDirectory(t);
  const [path, link] = [join(directory, 'web.vmx'), join(directory, 'link.vmx')];
  writeFileSync(path, 'displayname = "web"\n');
  chmodSync(path, 0o640);
  if (process.geteuid!() === 0) chownSync(path, 1234, 1235);
  symlinkSync(path, link);
  // An open one is not changed, as a file is not that is being written when the power fails.
  const before = openSync(path, 'r');
  t.after(() => closeSync(before));
  const old = statSync(path);
  await writePairs(link, parsePairs(Buffer.from('displayname = "other"\n')));
  assert.equal(readFileSync(before, 'utf8'), 'displayname = "web"\n');
  assert.equal(readFileSync(path, 'utf8'), 'displayname = "other"\n');
  assert.ok(lstatSync(link).isSymbolicLink());
  const { mode, uid, gid } = statSync(path);
  assert.deepEqual([mode, uid, gid], [old.mode, old.uid, old.gid]);
});

test("adapters of a VMware machine go to networks of the nodes and back, and the user's own stay as they are", () => {
  const text = 'ethernet0.present = "TRUE"\nethernet0.connectiontype = "nat"\nethernet3.present = "TRUE"\n';
  const vmx: Pairs = parsePairs(Buffer.from(text));
  const networks = ['vmnet2', 'vmnet3'];
  const settings = { adapters: 3, adapter_type: 'default', use_any_adapter: false, custom_adapters: [] };
  const attached = attachAdapters(
    vmx,
    settings,
    () => false,
    () => networks.shift()!,
  );
  assert.deepEqual(
    [...attached],
    [
      [1, 'vmnet2'],
      [2, 'vmnet3'],
    ],
  );
  assert.deepEqual(
    ['0.connectiontype', '1.vnet', '1.virtualdev', '1.connectiontype', '2.vnet', '3.startconnected'].map((key) =>
      vmx.get(`ethernet${key}`),
    ),
    ['nat', 'vmnet2', 'e1000', 'custom', 'vmnet3', 'FALSE'],
  );
  detachAdapters(vmx, new Set(['vmnet2', 'vmnet3']));
  assert.deepEqual([vmx.get('ethernet1.vnet'), vmx.get('ethernet3.startconnected')], ['vmnet1', 'TRUE']);
  assert.deepEqual(parsePairs(Buffer.from(pairsText(vmx, '/usr/bin/vmware'))), vmx);
  assert.deepEqual(vmnets(['vmnet8', 'vmnet10', 'eth0', 'vmnet2', 'vmnet1', 'vmnet300'], 2, 255), [
    'vmnet2',
    'vmnet10',
  ]);
});
