// Configuration: which source wins, what an existing gns3_server.conf means, and what stops the start.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type ConfigSources, loadConfig } from '../../src/config/load.ts';

const home = mkdtempSync(join(tmpdir(), 'labwire-config-'));
after(() => rmSync(home, { recursive: true }));

const base: ConfigSources = { flags: [], environment: {}, workingDirectory: home, home, state: join(home, 'state') };

function file(name: string, text: string): string {
  const path = join(home, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
  return path;
}

test('without any source everything has its default, below the state directory', () => {
  const { config, warnings } = loadConfig({ ...base, file: file('empty.conf', '') });
  assert.deepEqual(warnings, []);
  assert.equal(config.Server.host, '127.0.0.1');
  assert.equal(config.Server.port, 3080);
  assert.deepEqual(config.Server.version, {
    v2: { number: '2.2.57', pinned: false },
    v3: { number: '3.0.6', pinned: false },
  });
  assert.equal(config.Server.projects_path, join(home, 'state/projects'));
  assert.equal(config.Server.images_path, join(home, 'state/images'));
  assert.deepEqual([config.Server.udp_start_port_range, config.Server.udp_end_port_range], [20000, 30000]);
  assert.equal(config.VPCS.vpcs_path, 'vpcs');
  assert.equal(config.Qemu.enable_kvm, undefined);
  assert.ok(Object.isFrozen(config) && Object.isFrozen(config.Server));
});

test('HTTPS is served whichever way the configuration says so, and the address that is reported says the same', () => {
  for (const [text, expected] of [
    ['protocol = https', [true, 'https']],
    ['ssl = true', [true, 'https']],
    ['protocol = http\nssl = true', [true, 'https']],
    ['protocol = https\nssl = false', [true, 'https']],
    ['protocol = http', [false, 'http']],
  ] as const) {
    const { Server } = loadConfig({ ...base, file: file('tls.conf', `[Server]\n${text}\n`) }).config;
    assert.deepEqual([Server.ssl, Server.protocol], expected, text);
  }
});

test('flags win over the environment, the environment over files', () => {
  const path = file('strength.conf', '[Server]\nport = 1001\nhost = 127.0.0.2\nuser = file\n');
  const sources: ConfigSources = {
    ...base,
    file: path,
    environment: { LABWIRE_SERVER_PORT: '1002', LABWIRE_SERVER_HOST: '127.0.0.3' },
    flags: [{ section: 'Server', key: 'port', value: '1003', flag: '--port' }],
  };
  const { Server } = loadConfig(sources).config;
  assert.deepEqual([Server.port, Server.host, Server.user], [1003, '127.0.0.3', 'file']);
});

test('an existing file of a genuine server is understood', () => {
  const text = `
; comment
[Server]
host = 0.0.0.0
port = 3080
images_path = ~/GNS3/images
projects_path = /srv/gns3/projects
additional_images_path = /a;/b
report_errors = True
auth = True
user = admin
password = se=cr;et #1
allow_remote_console = yes

[VPCS]
vpcs_path = /usr/bin/vpcs

[Qemu]
enable_kvm = true

[TraceNG]
traceng_path = traceng
`;
  const { config, warnings, files } = loadConfig({ ...base, file: file('gns3_server.conf', text) });
  assert.deepEqual(warnings, ['keys without effect on this server: [Server] report_errors, [TraceNG] traceng_path']);
  assert.equal(files.length, 1);
  assert.equal(config.Server.password, 'se=cr;et #1');
  assert.equal(config.Server.images_path, join(home, 'GNS3/images'));
  assert.equal(config.Server.projects_path, '/srv/gns3/projects');
  assert.deepEqual(config.Server.additional_images_path, ['/a', '/b']);
  assert.equal(config.Server.allow_remote_console, true);
  assert.equal(config.Qemu.enable_kvm, true);
});

test('files in the places of the release are found, a later place winning', () => {
  file('.config/GNS3/2.2/gns3_server.conf', '[Server]\nport = 4000\nuser = early\n');
  file('.config/GNS3.conf', '[Server]\nport = 4001\n');
  const { config, files } = loadConfig({ ...base, workingDirectory: '/nonexistent' });
  assert.equal(config.Server.port, 4001);
  assert.equal(config.Server.user, 'early');
  assert.equal(files.filter((path) => path.startsWith(home)).length, 2); // a host may have files in /etc
  rmSync(join(home, '.config'), { recursive: true });
});

test('unknown keys, sections and variables are warned of, not fatal', () => {
  const path = file('odd.conf', '[Server]\ncolour = red\n[Toaster]\nslots = 2\n');
  const { warnings } = loadConfig({
    ...base,
    file: path,
    environment: { LABWIRE_SERVER_COLOUR: 'red', LABWIRE_STATE: '/x' },
  });
  assert.equal(warnings.length, 3);
  assert.match(warnings[0] as string, /odd\.conf line 2: \[Server\] has no key "colour"/);
  assert.match(warnings[1] as string, /odd\.conf line 4: the section \[Toaster\]/);
  assert.match(warnings[2] as string, /LABWIRE_SERVER_COLOUR/);
});

test('a bad value stops the start and names its place and what would fit', () => {
  const cases: [text: string, message: RegExp][] = [
    ['[Server]\nport = 99999\n', /line 2: port = "99999" is not possible: use a whole number from 0 to 65535/],
    ['[Server]\nport = x\n', /line 2: port = "x"/],
    ['[Server]\n\nlocal = perhaps\n', /line 3: local = "perhaps" is not possible: use true or false/],
    ['[Server]\nhost =\n', /line 2: host = ""/],
    ['[Server]\npassword = x\n', /user is empty/],
    ['[Server]\nauth = perhaps\n', /auth = "perhaps" is not possible: use automatic, true or false/],
    ['[Server]\nssl = true\ncertkey = key.pem\n', /certfile and certkey go together/],
    ['[Server]\nprotocol = https\ncertkey = key.pem\n', /certfile and certkey go together/],
    ['[Server]\nprotocol = https\ncertfile = cert.pem\n', /certfile and certkey go together/],
    [
      '[Server]\nudp_start_port_range = 30000\nudp_end_port_range = 20000\n',
      /udp_start_port_range \(30000\) must be below/,
    ],
    ['port = 1\n', /line 1: "port" stands before the first \[Section\]/],
    ['[Server]\nnonsense\n', /line 2: "nonsense" is neither/],
    ['[Server]\nversion = latest\n', /version = "latest" is not possible: use a release such as 2.2.57 or 3.0.6/],
    ['[Server]\nversion = 2.2.50, 2.2.51\n', /version = /],
    ['[Server]\nversion = 4.0.0\n', /version = /],
  ];
  for (const [text, message] of cases)
    assert.throws(() => loadConfig({ ...base, file: file('bad.conf', text) }), message, text);
  assert.throws(
    () => loadConfig({ ...base, file: join(home, 'missing.conf') }),
    /missing\.conf cannot be read: ENOENT/,
  );
  const flags: ConfigSources['flags'] = [{ section: 'Server', key: 'port', value: 'x', flag: '--port' }];
  assert.throws(
    () => loadConfig({ ...base, flags, file: file('empty.conf', '') }),
    /--port x: use a whole number from 0 to 65535/,
  );
});

test('the state directory comes from the flag, the variable, systemd, then the user', () => {
  const { state: _state, ...rest } = base;
  const where = (environment: Record<string, string>): string =>
    loadConfig({ ...rest, environment, file: file('empty.conf', '') }).config.state;
  assert.equal(where({ LABWIRE_STATE: '/one', STATE_DIRECTORY: '/two' }), '/one');
  assert.equal(where({ STATE_DIRECTORY: '/two:/three' }), '/two');
});
