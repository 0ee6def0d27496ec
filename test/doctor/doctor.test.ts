// The doctor on this host: what he finds, what he says to do, and that he leaves everything as it was.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { type Check, type Finding, type Patient, runChecks } from '../../src/doctor/check.ts';
import { runDoctor } from '../../src/doctor/doctor.ts';
import { user } from '../../src/doctor/host.ts';
import { fixReport, textReport } from '../../src/doctor/report.ts';
import { commands, missing, ok, warning } from '../../src/host/values/check-result.ts';
import { AccountFile } from '../../src/store/account.ts';
import { AccountsFile } from '../../src/store/accounts.ts';
import { AuditFile } from '../../src/store/audit.ts';
import { Store } from '../../src/store/store.ts';
import { noQemu, noTaps } from '../compute/qemu-support.ts';
import { daemonHere } from '../daemon-here.ts';
import { cannotUnshare } from '../host/missing.ts';
import { scratchDirectory } from '../store/scratch.ts';

const main = join(import.meta.dirname, '../../src/main.ts');

interface Asked {
  home: string;
  state?: string;
  environment?: Record<string, string>;
}

/** Asks the doctor; gives his findings by their subject, and the exit code. */
async function ask({ home, state = join(home, 'state'), environment = {} }: Asked) {
  const sources = { environment: { LABWIRE_SERVER_PORT: '0', ...environment }, workingDirectory: home, home };
  const { report, exitCode } = await runDoctor(
    { flags: [], state, json: true, fix: false },
    { sources, addonDirectory: undefined },
  );
  const { findings } = JSON.parse(report) as { findings: Finding[] };
  return { exitCode, findings, of: (subject: string) => findings.find((finding) => finding.subject === subject) };
}

/** A script that stands in for a program. */
async function program(directory: string, script: string, name = 'vpcs'): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

test('a complete host gets no complaint, and nothing on it is changed', async (t) => {
  const home = await scratchDirectory(t);
  const path = await program(home, 'echo "Welcome to Virtual PC Simulator, version 0.8.3"');
  const before = await readdir(home);
  const { of, findings } = await ask({ home, environment: { LABWIRE_VPCS_VPCS_PATH: path } });
  assert.deepEqual(of('vpcs'), {
    subject: 'vpcs',
    see: 'vpcs#the-program',
    state: 'ok',
    detail: `virtual PCs are run by ${path}, version 0.8.3`,
  });
  assert.equal(of('listen address')?.state, 'ok');
  assert.match(of('state directory')?.detail ?? '', /state, made when it is needed, [\d,]+ MiB free$/);
  assert.notEqual(of('native addons')?.state, 'missing');
  for (const { subject, state, fix } of findings) assert.equal(fix === undefined, state === 'ok', subject);
  assert.deepEqual(await readdir(home), before);
});

test('a missing program is named with its fix, and a script sees it by the exit code', async (t) => {
  const home = await scratchDirectory(t);
  const { of, exitCode } = await ask({ home, environment: { LABWIRE_VPCS_VPCS_PATH: '/nowhere/vpcs' } });
  assert.equal(exitCode, 1);
  assert.equal(of('vpcs')?.state, 'missing');
  assert.match(of('vpcs')?.detail ?? '', /\/nowhere\/vpcs/);
  assert.match(of('vpcs')?.fix ?? '', /apt install vpcs.*vpcs_path/);
});

test('how frames of QEMU travel is reported with the reason', { skip: noQemu }, async (t) => {
  const home = await scratchDirectory(t);
  const told = async (frames: string) =>
    (await ask({ home, environment: { LABWIRE_QEMU_FRAMES: frames } })).of('QEMU frames');
  assert.match((await told('udp'))?.detail ?? '', /by UDP: frames = udp in section \[Qemu\]$/);
  const automatic = await told('automatic');
  assert.equal(automatic?.state, 'ok');
  assert.match(automatic.detail, noTaps === false ? /by TAPs, with(out)? vhost-net$/ : /by UDP: /);
  assert.equal((await told('tap'))?.state, noTaps === false ? 'ok' : 'missing');
});

test('what only some machines need is named where it is missing, with the package, and is no fault', {
  skip: noQemu || cannotUnshare('mount namespaces', '--mount', 'true'),
}, async (t) => {
  const home = await scratchDirectory(t);
  const hidden = ['cpulimit', 'mcopy', 'swtpm'].map((name) => `/usr/bin/${name}`);
  const hide = `for file in ${hidden.join(' ')}; do ! [ -e $file ] || mount --bind /dev/null $file; done
    ! [ -e /usr/share/OVMF ] || mount -t tmpfs tmpfs /usr/share/OVMF; exec "$@"`;
  const doctor = [process.execPath, main, 'doctor', '--json', '--state', join(home, 'state')];
  const { stdout, stderr } = spawnSync('unshare', ['--mount', 'sh', '-c', hide, 'sh', ...doctor], {
    encoding: 'utf8',
    env: { ...process.env, HOME: home },
  });
  assert.ok(stdout !== '', stderr);
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  for (const [subject, need, name] of [
    ['cpulimit', 'cpu_throttling', 'cpulimit'],
    ['mtools', 'configuration disks', 'mtools'],
    ['OVMF', 'UEFI', 'ovmf'],
    ['swtpm', 'a TPM', 'swtpm'],
  ] as const) {
    const found = findings.find((finding) => finding.subject === subject);
    assert.equal(found?.state, 'ok', subject);
    assert.match(found.detail, new RegExp(`^not installed; optional, needed for .*${need}.*: apt install ${name}$`));
  }
});

test('VirtualBox and VMware are reported with their programs, or with the missing ones', async (t) => {
  const home = await scratchDirectory(t);
  const absent = await ask({ home });
  const given = await ask({
    home,
    environment: {
      LABWIRE_VIRTUALBOX_VBOXMANAGE_PATH: await program(home, 'exit 1', 'VBoxManage'),
      LABWIRE_VMWARE_VMRUN_PATH: await program(home, 'exit 1', 'vmrun'),
    },
  });
  const wrong = await ask({ home, environment: { LABWIRE_VIRTUALBOX_VBOXMANAGE_PATH: '/nowhere/VBoxManage' } });
  assert.match(given.of('VirtualBox')?.detail ?? '', /driven by .*\/VBoxManage$/);
  assert.equal(wrong.of('VirtualBox')?.state, 'warning');
  assert.match(wrong.of('VirtualBox')?.fix ?? '', /vboxmanage_path in section \[VirtualBox\]/);
  assert.equal(given.of('VMware')?.state, 'warning');
  assert.match(given.of('VMware')?.detail ?? '', /neither vmware nor vmplayer is beside vmrun/);
  for (const subject of ['VirtualBox', 'VMware']) {
    const { state, detail } = absent.of(subject)!;
    if (detail.startsWith('not installed')) assert.equal(state, 'ok', subject);
    else assert.match(detail, /driven by|cannot be used|too old/, subject);
  }
});

test('a program that hangs is named; it does not hold up the report', async (t) => {
  const home = await scratchDirectory(t);
  const path = await program(home, 'exec sleep 60');
  const { of } = await ask({ home, environment: { LABWIRE_VPCS_VPCS_PATH: path } });
  assert.equal(of('vpcs')?.state, 'missing');
  assert.match(of('vpcs')?.detail ?? '', /did not answer/);
});

test('a configuration that stops the server is reported with its place, an odd one with its line', async (t) => {
  const home = await scratchDirectory(t);
  const file = join(home, 'gns3_server.conf');
  await writeFile(file, '[Server]\nport = many\n');
  const broken = await ask({ home, environment: { LABWIRE_SERVER_PORT: 'many' } });
  assert.equal(broken.exitCode, 1);
  assert.equal(broken.findings.length, 1);
  assert.match(broken.of('configuration')?.detail ?? '', /LABWIRE_SERVER_PORT.*whole number/);

  await writeFile(file, '[Server]\nspeed = fast\n');
  const odd = await ask({ home });
  assert.equal(odd.of('configuration')?.state, 'warning');
  assert.match(odd.of('configuration')?.detail ?? '', /gns3_server\.conf line 2: .*"speed"/);

  await writeFile(file, '[Server]\nauth = true\nuser = ann\n');
  const open = (await ask({ home })).of('account');
  assert.deepEqual([open?.state, open?.detail.split(':')[0]], ['missing', 'user = ann is set without a password']);

  await writeFile(file, '[Server]\nuser = ann\npassword = secret\n');
  await chmod(file, 0o644);
  assert.equal((await ask({ home })).of('configuration')?.fix, `chmod o-r ${file}`);
  if (process.getuid?.() === 0) {
    const state = join(home, 'state');
    await mkdir(state);
    await chown(state, 65_534, 65_534);
    const commands = [`chgrp --reference=${state} ${file}`, `chmod g+r,o-r ${file}`];
    const found = (await ask({ home })).of('configuration');
    assert.deepEqual(found?.commands, commands, 'a server of another user can still read it');
    for (const command of commands) execFileSync('sh', ['-c', command]);
    const { mode, gid } = await stat(file);
    assert.deepEqual([mode & 0o777, gid], [0o640, 65_534]);
  }
  await chmod(file, 0o640);
  assert.equal((await ask({ home })).of('configuration')?.state, 'ok');
});

test('a port that another program has is distinguished from the one of the running server', async (t) => {
  const home = await scratchDirectory(t);
  const listen =
    "require('net').createServer().listen(0, '127.0.0.1', function () { console.log(this.address().port) })";
  const other = spawn(process.execPath, ['-e', listen], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => other.kill());
  const taken = String((await once(other.stdout, 'data'))[0]).trim();
  const stopped = await ask({ home, environment: { LABWIRE_SERVER_PORT: taken } });
  assert.equal(stopped.of('listen address')?.state, 'missing');
  assert.match(stopped.of('listen address')?.fix ?? '', /--port/);

  const state = join(home, 'state');
  const environment = { LABWIRE_SERVER_PORT: '0' };
  const { config } = loadConfig({ flags: [], environment, workingDirectory: home, home, state });
  const { address, stop } = await daemonHere(config);
  t.after(stop);
  const own = await ask({ home, environment: { LABWIRE_SERVER_PORT: String(address.port) } });
  assert.equal(own.of('listen address')?.state, 'ok');
  assert.match(own.of('listen address')?.detail ?? '', new RegExp(`running labwired \\(pid ${process.pid}\\)`));
  assert.match(own.of('state directory')?.detail ?? '', new RegExp(`running labwired \\(pid ${process.pid}\\)`));
  const foreign = await ask({ home, environment: { LABWIRE_SERVER_PORT: taken } });
  assert.equal(foreign.of('listen address')?.state, 'missing', 'another program, though a server runs elsewhere');
});

test('the user is that of the running server, also if root asks', async (t) => {
  const ofServer = async (uid: number | undefined): Promise<Finding | undefined> => {
    const child = spawn('sleep', ['60'], uid === undefined ? {} : { uid });
    t.after(() => child.kill());
    await once(child, 'spawn');
    const [found] = await runChecks([user], { daemon: child.pid } as Patient);
    return found;
  };
  const own = process.getuid?.();
  assert.equal((await ofServer(undefined))?.state, own === 0 ? 'warning' : 'ok');
  if (own === 0) assert.match((await ofServer(65_534))?.detail ?? '', /^(nobody|user 65534)$/);
});

test('a pid file that a killed server has left behind is no running server', async (t) => {
  if (!existsSync('/proc/locks')) return t.skip('this kernel does not tell who holds locks');
  const home = await scratchDirectory(t);
  const state = join(home, 'state');
  await mkdir(state, { mode: 0o700 });
  await writeFile(join(state, 'labwired.pid'), `${process.pid}\n`);
  await writeFile(join(state, 'labwired.lock'), '');
  const { of } = await ask({ home });
  assert.doesNotMatch(of('state directory')?.detail ?? '', /running/);
});

test('an address that the network can reach is not taken without a password, and consoles are warned of', async (t) => {
  const home = await scratchDirectory(t);
  const open = { LABWIRE_SERVER_HOST: '0.0.0.0' };
  const refused = await ask({ home, environment: { ...open, LABWIRE_SERVER_AUTH: 'false' } });
  assert.equal(refused.of('listen address')?.state, 'missing');
  assert.match(refused.of('listen address')?.fix ?? '', /leave out auth = false/);
  const asks = await ask({ home, environment: open });
  assert.equal(asks.of('listen address')?.state, 'ok');
  assert.equal(asks.of('console access')?.state, 'ok');
  const consoles = await ask({ home, environment: { ...open, LABWIRE_SERVER_ALLOW_REMOTE_CONSOLE: 'true' } });
  assert.equal(consoles.of('console access')?.state, 'warning');
  const insecure = await ask({ home, environment: { ...open, LABWIRE_SERVER_INSECURE: 'true' } });
  assert.equal(insecure.of('listen address')?.state, 'warning');
  const credentials = { LABWIRE_SERVER_AUTH: 'true', LABWIRE_SERVER_USER: 'ann', LABWIRE_SERVER_PASSWORD: 'secret' };
  assert.equal((await ask({ home, environment: { ...open, ...credentials } })).of('listen address')?.state, 'ok');
  const nowhere = await ask({
    home,
    environment: { LABWIRE_SERVER_HOST: '192.0.2.1', LABWIRE_SERVER_INSECURE: 'true' },
  });
  assert.match(nowhere.of('listen address')?.detail ?? '', /no address of this machine/);
});

test('a state directory that cannot be one, or that all users can read, is reported', async (t) => {
  const home = await scratchDirectory(t);
  await writeFile(join(home, 'file'), '');
  const file = await ask({ home, state: join(home, 'file/state') });
  assert.equal(file.of('state directory')?.state, 'missing');
  assert.match(file.of('state directory')?.detail ?? '', /is a file/);
  assert.equal(file.of('projects directory'), undefined, 'what is below is not told as well');
  await mkdir(join(home, 'state'));
  await chmod(join(home, 'state'), 0o755);
  const { of } = await ask({ home });
  assert.equal(of('state directory')?.state, 'warning');
  assert.match(of('state directory')?.fix ?? '', /^chmod o-rwx /);
});

test('a port range that is used up or narrow is reported before a lab finds out', async (t) => {
  const home = await scratchDirectory(t);
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  t.after(() => other.close());
  const { port } = other.address() as AddressInfo;
  const { of } = await ask({
    home,
    environment: {
      LABWIRE_SERVER_CONSOLE_START_PORT_RANGE: String(port),
      LABWIRE_SERVER_CONSOLE_END_PORT_RANGE: String(port + 10),
    },
  });
  assert.equal(of('console ports (TCP)')?.state, 'warning');
  assert.ok(Number(/ (\d+) of them free/.exec(of('console ports (TCP)')?.detail ?? '')?.[1]) <= 10);
});

test('a certificate that cannot be used is reported', async (t) => {
  const home = await scratchDirectory(t);
  assert.equal((await ask({ home })).of('certificate'), undefined);
  const files = { LABWIRE_SERVER_CERTFILE: join(home, 'c.pem'), LABWIRE_SERVER_CERTKEY: join(home, 'k.pem') };
  const { of } = await ask({ home, environment: { LABWIRE_SERVER_SSL: 'true', ...files } });
  assert.equal(of('certificate')?.state, 'missing');
  assert.match(of('certificate')?.detail ?? '', /c\.pem/);
});

test('the account, its first password and who may read them are reported', async (t) => {
  const home = await scratchDirectory(t);
  const environment = { LABWIRE_SERVER_HOST: '0.0.0.0' };
  assert.equal((await ask({ home })).of('account'), undefined, 'nobody is asked on loopback');
  const before = (await ask({ home, environment })).of('account');
  assert.deepEqual([before?.state, /initial-password/.test(before?.detail ?? '')], ['ok', true]);
  const state = join(home, 'state');
  await mkdir(state, { mode: 0o700 });
  const file = new AccountFile(state);
  await file.ensure();
  const first = (await ask({ home, environment })).of('account');
  assert.match(first?.detail ?? '', /first password of admin still lies in .*initial-password/);
  assert.match(first?.fix ?? '', /labwired password/);
  await chmod(file.path, 0o644);
  assert.equal((await ask({ home, environment })).of('account')?.fix, `chmod 600 ${file.path}`);
  await chmod(file.path, 0o600);
  await file.change(undefined, 'another one');
  assert.deepEqual((await ask({ home, environment })).of('account')?.state, 'ok');
  await writeFile(file.path, '{"user"');
  const damaged = (await ask({ home, environment })).of('account');
  assert.deepEqual([damaged?.state, /^mv /.test(damaged?.fix ?? '')], ['missing', true]);
});

test('accounts, the audit trail and the local socket are reported, with what keeps the server from them', async (t) => {
  const home = await scratchDirectory(t);
  const state = join(home, 'state');
  await mkdir(state, { mode: 0o700 });
  const none = await ask({ home });
  assert.deepEqual([none.of('accounts'), none.of('audit trail')], [undefined, undefined]);
  assert.match(none.of('local socket')?.detail ?? '', /labwired\.sock, made when the server starts$/);
  const file = new AccountsFile(state);
  await file.add([{ name: 'ada', role: 'admin', password: 'long enough' }], []);
  const audit = new AuditFile(state);
  audit.note({ time: '', account: 'ada', address: '', action: 'x', objects: {}, status: 0 });
  await audit.settled();
  const there = await ask({ home });
  assert.match(there.of('accounts')?.detail ?? '', /^1, of them 1 admins, and 0 tokens, in /);
  assert.match(there.of('audit trail')?.detail ?? '', /audit\.log, 0\.0 MiB of at most 16, [\d,]+ MiB free$/);

  for (const [path, subject] of [
    [file.path, 'accounts'],
    [audit.path, 'audit trail'],
  ] as const) {
    await chmod(path, 0o644);
    assert.equal((await ask({ home })).of(subject)?.fix, `chmod 600 ${path}`);
    await chmod(path, 0o600);
    if (process.getuid?.() !== 0) continue;
    await chown(path, 65_534, 65_534);
    assert.equal((await ask({ home })).of(subject)?.fix, `chown --reference=${state} ${path}`);
    await chown(path, 0, 0);
  }
  const text = await readFile(file.path, 'utf8');
  await writeFile(file.path, text.slice(0, 40));
  const damaged = (await ask({ home })).of('accounts');
  assert.equal(damaged?.state, 'missing');
  assert.match(damaged.detail, /accounts\.json cannot be used .*put back a copy/);
  await writeFile(file.path, text);
  await rm(audit.path);
  await mkdir(audit.path);
  assert.match((await ask({ home })).of('audit trail')?.detail ?? '', /is not a file: changes are not recorded/);

  const path = join(state, 'labwired.sock');
  const socket = async () => (await ask({ home })).of('local socket');
  await writeFile(path, '');
  assert.match((await socket())?.fix ?? '', /remove it, or name another/);
  await rm(path);
  const server = createServer().listen(`${path}.old`);
  await once(server, 'listening');
  await rename(`${path}.old`, path);
  await chmod(path, 0o666);
  assert.equal((await socket())?.fix, `chmod 600 ${path}`);
  await chmod(path, 0o600);
  assert.match((await socket())?.detail ?? '', /labwired\.sock, owner \S+$/);
  server.close();
  await once(server, 'close');
  assert.match((await socket())?.detail ?? '', /left by a server that was killed/);
  assert.match(
    (await ask({ home, environment: { LABWIRE_SERVER_SOCKET_PATH: 'off' } })).of('local socket')?.detail ?? '',
    /^none: socket_path = off$/,
  );
});

test('a database that is damaged, of a later release, or open to others is reported, and left as it is', async (t) => {
  const home = await scratchDirectory(t);
  const stateDirectory = join(home, 'state');
  assert.equal((await ask({ home })).of('database'), undefined);
  await (await Store.open({ stateDirectory })).close();
  const path = join(stateDirectory, 'labwire.db');
  const before = await readdir(stateDirectory);
  assert.match((await ask({ home })).of('database')?.detail ?? '', /labwire\.db, \d\.\d MiB, sound$/);
  assert.deepEqual(await readdir(stateDirectory), before);
  await chmod(path, 0o644);
  assert.equal((await ask({ home })).of('database')?.fix, `chmod 600 ${path}`);
  await chmod(path, 0o600);
  const store = await Store.open({ stateDirectory });
  await store.documents.put('templates', 'broken', []);
  await store.close();
  const records = (await ask({ home })).of('database');
  assert.equal(records?.state, 'warning');
  assert.match(records.detail, /templates broken$/);
  const good = await readFile(path);
  const later = Buffer.from(good);
  later.writeUInt32BE(99, 60); // user_version, in the header of the file
  await writeFile(path, later);
  assert.match((await ask({ home })).of('database')?.detail ?? '', /later release/);
  await writeFile(path, Buffer.concat([good.subarray(0, 4096), Buffer.alloc(good.length - 4096, 7)]));
  const damaged = (await ask({ home })).of('database');
  assert.deepEqual([damaged?.state, /labwired recover/.test(damaged?.fix ?? '')], ['missing', true]);
});

test('programs that run on without a server, and a supervisor that others could reach, are reported', async (t) => {
  const home = await scratchDirectory(t);
  const directory = join(home, 'state/supervisor');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await chmod(join(home, 'state'), 0o700);
  assert.match((await ask({ home })).of('supervisor')?.detail ?? '', /does not run/);
  const stand = spawn('sleep', ['60'], { cwd: directory });
  t.after(() => stand.kill('SIGKILL'));
  const alone = (await ask({ home })).of('supervisor');
  assert.deepEqual([alone?.state, alone?.detail.includes(`pid ${stand.pid}`)], ['warning', true]);
  await chmod(directory, 0o755);
  assert.equal((await ask({ home })).of('supervisor')?.fix, `chmod 700 ${directory}`);
});

test('a check that fails or never ends is reported as such, and the others are not lost', async () => {
  const see = 'install#limits';
  const checks: Check[] = [
    { subject: 'hangs', see, examine: () => new Promise(() => {}) },
    {
      subject: 'fails',
      see,
      examine: () => {
        throw new Error('no luck');
      },
    },
    { subject: 'does not apply', see, examine: () => undefined },
    { subject: 'works', see, examine: () => ok('fine') },
  ];
  const findings = await runChecks(checks, {} as Patient, 20);
  assert.deepEqual(
    findings.map(({ subject, state }) => `${subject}: ${state}`),
    ['hangs: warning', 'fails: warning', 'works: ok'],
  );
  assert.match(findings[1]?.detail ?? '', /no luck/);
});

test('the fixes for a host are a text for a shell, in which nothing that others named becomes a command', () => {
  const report = fixReport('1.2.3', [
    { subject: 'memory', see: 'install#limits', ...ok('plenty') },
    { subject: 'file', see: 'install#directories', ...missing('/a\nreboot: gone', commands("chmod 600 '/a\nreboot'")) },
    { subject: 'port', see: 'security#access', ...warning('taken', 'choose another with --port') },
  ]);
  assert.equal(
    report,
    `# labwired 1.2.3 doctor: nothing was run; what is below is for root, after reading

# missing: file: /a reboot: gone
# labwired help install#directories
chmod 600 '/a\nreboot'

# warning: port: taken
# labwired help security#access
# to do by hand: choose another with --port
`,
  );
  assert.match(fixReport('1', []), /^# labwired 1 doctor: nothing to be done\n$/);
});

test('the report for people is aligned, with what to do below each problem', () => {
  const report = textReport('1.2.3', [
    { subject: 'vpcs', see: 'vpcs#the-program', state: 'missing', detail: 'not there', fix: 'apt install vpcs' },
    { subject: 'memory', see: 'install#limits', state: 'ok', detail: 'plenty' },
  ]);
  assert.equal(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours, when the tests run on a terminal
    report.replace(/\u001b\[\d+m/g, ''),
    [
      'labwired 1.2.3',
      '',
      'missing  vpcs    not there',
      '                 -> apt install vpcs',
      '                    labwired help vpcs#the-program',
      'ok       memory  plenty',
      '',
      '1 ok, 0 warning, 1 missing',
      '',
    ].join('\n'),
  );
});

test('the command line reports its outcome by the exit code, and writes nothing but the report', async (t) => {
  const home = await scratchDirectory(t);
  const doctor = (...words: string[]) =>
    spawnSync(process.execPath, [main, 'doctor', ...words], {
      encoding: 'utf8',
      cwd: home,
      env: { HOME: home, LABWIRE_SERVER_LOG: join(home, 'labwired.log'), LABWIRE_VPCS_VPCS_PATH: '/nowhere/vpcs' },
    });
  const report = doctor('--json', '--state', join(home, 'state'), '--port', '0');
  assert.equal(report.status, 1, report.stderr);
  assert.equal(JSON.parse(report.stdout).state, 'missing');
  assert.equal(report.stderr, '');
  assert.deepEqual(await readdir(home), [], 'neither a log nor a state directory');
  const before = await readdir(home);
  const fixes = doctor('--fix', '--state', join(home, 'state'), '--port', '0');
  assert.equal(fixes.status, 1, fixes.stderr);
  assert.match(fixes.stdout, /^# missing: vpcs: .*\n# labwired help vpcs#the-program\n# to do: .*\napt install vpcs$/m);
  assert.equal(spawnSync('sh', ['-n'], { input: fixes.stdout }).status, 0, fixes.stdout);
  assert.deepEqual(await readdir(home), before, 'nothing of it is run');
  assert.match(doctor('--fix', '--json').stderr, /leave out one of them/);
  const wrong = doctor('--jsn');
  assert.equal(wrong.status, 2);
  assert.match(wrong.stderr, /--jsn.*labwired doctor --help/);
});
