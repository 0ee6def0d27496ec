// Configuration files: one of the release that is replaced goes on working; a mistake is told with its line and the fix.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { ownDaemon, startDaemon } from './daemon.ts';
import { Lab } from './lab.ts';

/** As a graphical client of the release writes it. */
const EXISTING = `[Server]
path = /usr/bin/gns3server
ubridge_path = /usr/bin/ubridge
host = localhost
port = 3080
images_path = ~/GNS3/images
projects_path = ~/GNS3/projects
appliances_path = ~/GNS3/appliances
additional_images_paths =
symbols_path = ~/GNS3/symbols
configs_path = ~/GNS3/configs
report_errors = True
auto_start = True
allow_console_from_anywhere = False
auth = True
user = admin
password = Pq%s;5#x
protocol = http
console_start_port_range = 5000
console_end_port_range = 10000
udp_start_port_range = 10000
udp_end_port_range = 20000

[VPCS]
vpcs_path = /usr/bin/vpcs

[Dynamips]
allocate_aux_console_ports = False
mmap_support = True
dynamips_path = /usr/bin/dynamips
sparse_memory_support = True
ghost_ios_support = True

[IOU]
iourc_path = ~/.iourc
license_check = True

[Qemu]
enable_hardware_acceleration = True
require_hardware_acceleration = False

[VirtualBox]
vboxmanage_path = /usr/bin/VBoxManage

[VMware]
host_type = ws
vmnet_start_range = 2
vmnet_end_range = 255
`;

test('an existing gns3_server.conf is found where the release has it, and used', async (t) => {
  const daemon = ownDaemon(t, { config: null });
  const file = join(daemon.directory, '.config/GNS3/2.2/gns3_server.conf');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, EXISTING);
  await daemon.start();
  assert.match(daemon.log, new RegExp(`ready url=.* files=\\S*${file}`));
  assert.equal((await daemon.ask('GET', '/v2/version')).status, 401);
  const authorization = `Basic ${Buffer.from('admin:Pq%s;5#x').toString('base64')}`;
  const created = await daemon.ask('POST', '/v2/projects', { body: { name: 'Lab' }, headers: { authorization } });
  assert.equal(created.status, 201, created.text);
  assert.equal(dirname(created.json.path), join(daemon.directory, 'GNS3/projects'));
});

test('an unknown key is reported with its line, and does not keep the server from starting', async (t) => {
  const daemon = await startDaemon(t, { config: '[Server]\n# a comment\nhots = 127.0.0.1\n\n[Toaster]\nheat = 3\n' });
  assert.match(daemon.log, /warn .*labwired\.conf line 3: \[Server\] has no key "hots"/);
  assert.match(daemon.log, /warn .*labwired\.conf line 6: the section \[Toaster\] is not known/);
  await Lab.create(daemon);
});

for (const [what, config, said] of [
  [
    'a word for a number',
    '[Server]\nauth = no\nvnc_console_start_port_range = many\n',
    /line 3: vnc_console_start_port_range = "many" .*use a whole number from 5900 to 65535/,
  ],
  ['a number for a switch', '[Server]\nlocal = 7\n', /line 2: local = "7" .*use true or false/],
  [
    'a range upside down',
    '[Server]\nvnc_console_start_port_range = 9000\nvnc_console_end_port_range = 8000\n',
    /vnc_console_start_port_range \(9000\) must be below vnc_console_end_port_range \(8000\)/,
  ],
  ['a password without a user', '[Server]\nauth = true\npassword = x\n', /user is empty: set both/],
  [
    'a user without a password',
    '[Server]\nauth = true\nuser = x\n',
    /user = x is set without a password: set password/,
  ],
  ['a line that is none', '[Server]\nhost\n', /line 2: /],
] as const) {
  test(`${what} in the configuration stops the start, and the message reports the place and the fix`, async (t) => {
    const daemon = ownDaemon(t, { config });
    const refusal = await daemon.refusal();
    assert.equal(refusal.code, 1);
    assert.match(refusal.said, said);
    assert.doesNotMatch(refusal.said, /\n +at |\.cjs/);
  });
}

test('a port that is taken, and a flag that does not exist, stop the start with the fix', async (t) => {
  const first = await startDaemon(t);
  const taken = await ownDaemon(t, { flags: ['--port', `${first.port}`] }).refusal();
  assert.equal(taken.code, 1);
  assert.match(taken.said, new RegExp(`port ${first.port} on 127\\.0\\.0\\.1 is taken .*--port`));
  const flag = await ownDaemon(t, { flags: ['--prot', '1'] }).refusal();
  assert.equal(flag.code, 2);
  assert.match(flag.said, /--prot.*labwired --help/);
});
