// Creating, changing and starting a node of each kind, with each thing that it waits for failing once: afterwards all is as before.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { configureLog } from '../../src/host/log.ts';
import { findOurs } from '../../src/host/processes/child-processes.ts';
import type { Body } from '../body.ts';
import { Failing, failAwaits, failPrograms } from '../controller/failing-awaits.ts';
import { fabricFigures, filesBelow } from '../controller/picture.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { BUSYBOX } from './docker-engine.ts';
import { engine, noEngine } from './docker-support.ts';
import { LICENCE, noCompiler, putImage } from './iou-support.ts';
import { script, UUID, VBOX, VMRUN, VMWARE } from './machine-programs.ts';
import { noQemu, SMALL } from './qemu-support.ts';
import { makeImage, noDynamips } from './router-support.ts';
import { type Answer, type Lab, noVpcs, type Settings, startLab } from './support.ts';

const NODE_ID = '11111111-2222-4333-8444-555555555555';

interface Kind {
  kind: string;
  skip?: string | false;
  settings?: (t: TestContext) => Settings | Promise<Settings>;
  prepare?: (lab: Lab) => Promise<unknown>;
  body?: object;
  change: object;
  /** Of a node that runs; the same if not given, nothing if it cannot be changed. */
  live?: object | false;
  start?: object;
  /** It is stopped for a change, and started again: that of a node that runs is all that there is. */
  restarts?: true;
  /** Starts nothing here. */
  isAlwaysOn?: true;
}

const access = (port_number: number, vlan: number) => ({ name: `E${port_number}`, port_number, type: 'access', vlan });
const console = { console: 13_990 };

const KINDS: Kind[] = [
  {
    kind: 'vpcs',
    skip: noVpcs,
    settings: () => ({ engine: 'vpcs' }),
    body: { startup_script: 'ip 10.0.0.1/24\nset pcname N1\n' },
    change: { name: 'Other', ...console },
  },
  {
    kind: 'qemu',
    skip: noQemu,
    settings: () => ({ frames: 'udp' }),
    body: { ...SMALL, adapters: 2 },
    change: { name: 'Other', ...console, adapters: 3, cpu_throttling: 50 },
  },
  {
    kind: 'docker',
    skip: noEngine,
    settings: () => ({ docker: { socket_path: engine().socketPath } }),
    body: { image: BUSYBOX, console_type: 'telnet' },
    change: { name: 'Other', ...console, adapters: 2, console_type: 'http' },
    restarts: true,
  },
  {
    kind: 'iou',
    skip: noCompiler,
    settings: async (t) => {
      const iourc_path = join(await scratchDirectory(t), 'iourc');
      writeFileSync(iourc_path, LICENCE);
      return { iourc_path };
    },
    prepare: async (lab) => putImage(lab),
    // An image that cannot be read does not tell its memory.
    body: {
      path: 'i86bi.bin',
      application_id: 480,
      startup_config_content: 'hostname N1\n',
      use_default_iou_values: false,
      ram: 256,
      nvram: 64,
    },
    change: { name: 'Other', ...console, ethernet_adapters: 1, serial_adapters: 1 },
  },
  {
    kind: 'dynamips',
    skip: noDynamips,
    prepare: async ({ config }) => {
      const images = join(config.Server.images_path, 'IOS');
      await mkdir(images, { recursive: true });
      await makeImage(images, 'c3600');
    },
    body: { platform: 'c3600', image: 'c3600.image', ram: 64, aux: 13_992, startup_config_content: 'hostname N1\n' },
    change: { name: 'Other', ...console, aux: 13_991, slot1: 'NM-1E' },
    live: { ...console, idlemax: 100 },
  },
  { kind: 'ethernet_hub', change: { ports_mapping: [{ name: 'a', port_number: 0 }] }, isAlwaysOn: true },
  {
    kind: 'ethernet_switch',
    change: { name: 'Other', ports_mapping: [access(0, 1), access(1, 7)], console_type: 'none' },
    isAlwaysOn: true,
  },
  {
    kind: 'frame_relay_switch',
    body: { mappings: { '1:100': '2:200' } },
    change: { name: 'Other', mappings: { '1:100': '3:200' } },
    isAlwaysOn: true,
  },
  {
    kind: 'cloud',
    change: {
      name: 'Other',
      ports_mapping: [{ name: 'u', port_number: 0, type: 'udp', lport: 15_980, rhost: '127.0.0.1', rport: 15_981 }],
    },
    isAlwaysOn: true,
  },
  {
    kind: 'virtualbox',
    settings: async (t) => {
      const directory = await scratchDirectory(t);
      writeFileSync(join(directory, 'state'), 'poweroff\n');
      return { vboxmanage_path: script(join(directory, 'VBoxManage'), VBOX) };
    },
    body: { vmname: UUID, console_type: 'none' },
    change: { ...console, console_type: 'telnet', adapters: 2, ram: 600 },
    live: false,
  },
  {
    kind: 'vmware',
    settings: async (t) => {
      const directory = await scratchDirectory(t);
      script(join(directory, 'vmware'), VMWARE);
      writeFileSync('/dev/shm/labwire-test.vmx', '.encoding = "UTF-8"\nmemsize = "64"\n');
      t.after(() => rmSync('/dev/shm/labwire-test.vmx', { force: true }));
      return { vmrun_path: script(join(directory, 'vmrun'), VMRUN) };
    },
    body: { vmx_path: '/dev/shm/labwire-test.vmx', linked_clone: false, console_type: 'none' },
    change: { name: 'Other', ...console, console_type: 'telnet', adapters: 2 },
    live: false,
  },
];

interface Here {
  lab: Lab;
  project: string;
  instance: string;
}

/** All that the compute has. What has a number of its own each time it is made is counted. */
async function look({ lab, project, instance }: Here, kind: string): Promise<Record<string, Body>> {
  const { body, status } = await lab.request('GET', `${project}/${kind}/nodes/${NODE_ID}`);
  const { container_id: _, command_line: _words, ...node } = body;
  const ports = await lab.expect(200, 'GET', '/network/ports');
  const containers =
    kind === 'docker'
      ? await engine().engine.call<Body[]>(
          'GET',
          `containers/json?all=1&filters={"label":["labwire.instance=${instance}"]}`,
        )
      : [];
  return {
    node: status === 200 ? node : status,
    ports: [ports.console_ports, ports.udp_ports.length],
    files: filesBelow(lab.config.Server.projects_path)
      .filter((path) => !/\.log$|vpcs\.hist/.test(path))
      .sort(),
    fabric: fabricFigures(),
    processes: findOurs(instance).length,
    containers: containers.map(({ State, Names }) => `${State} ${Names}`),
  };
}

/** The same, once nothing moves any more. */
async function settled(here: Here, kind: string): Promise<Record<string, Body>> {
  let last = '';
  for (let same = 0; ; await sleep(200)) {
    const now = await look(here, kind);
    same = JSON.stringify(now) === last ? same + 1 : 0;
    if (same === 2) return now;
    last = JSON.stringify(now);
  }
}

/** Answers whether it is as wanted, at once or a little later: what has ended may take a moment to be gone. */
async function seen(here: Here, kind: string, wanted: readonly object[], without: readonly string[]): Promise<string> {
  const text = (one: Record<string, Body>): string =>
    JSON.stringify({ ...one, ...Object.fromEntries(without.map((name) => [name, ''])) });
  for (const end = performance.now() + 20_000; ; await sleep(50)) {
    const now = await look(here, kind);
    if (wanted.some((one) => text(one) === text(now))) return '';
    if (performance.now() > end) return `${text(now)}\n  instead of ${wanted.map(text).join('\n  or ')}`;
  }
}

interface Verb {
  name: string;
  act: () => Promise<Answer>;
  back: () => Promise<Answer>;
}

/** Does it again and again, until everything that it waits for has failed once; then it is done. */
async function attack(t: TestContext, here: Here, kind: string, { name, act, back }: Verb): Promise<string[]> {
  const isDone = ({ status, body }: Answer): void =>
    assert.ok(status < 300, `${kind}, ${name}: ${status} ${JSON.stringify(body)}`);
  const before = await settled(here, kind);
  isDone(await act());
  const done = await settled(here, kind);
  isDone(await back());
  const restored = await seen(here, kind, [before], []);
  assert.equal(restored, '', `${name} and back`);
  const failing = new Failing({ failsAgain: true });
  const wrong: string[] = [];
  for (;;) {
    let answer: Answer | undefined;
    await failing.run(async () => {
      answer = await act();
    });
    assert.ok(answer);
    if (failing.now === undefined) break;
    const failed = answer.status >= 300;
    const difference = await seen(here, kind, [failed ? before : done], failing.kept === undefined ? [] : ['files']);
    if (difference !== '')
      wrong.push(`${failing.now}\n  answered ${answer.status} ${answer.body?.message ?? ''}\n  ${difference}`);
    if (failing.kept !== undefined) rmSync(failing.kept, { recursive: true, force: true });
    if (difference !== '' || !failed) await back();
  }
  t.diagnostic(`${kind}, ${name}: ${failing.count} failures`);
  return wrong;
}

configureLog({ write: () => {} });
if (existsSync('/dev/shm')) process.env['TMPDIR'] = '/dev/shm';
await failAwaits();
failPrograms();

for (const one of KINDS.filter(({ kind }) => !process.env['KIND'] || kind === process.env['KIND'])) {
  const { kind, skip = false, settings, prepare, body = {}, change, live = change, restarts, isAlwaysOn } = one;
  test(`a node of ${kind} that cannot be created, changed or started is as before`, { skip }, async (t) => {
    const instance = randomUUID();
    const lab = await startLab(t, { instance, ...(await settings?.(t)) });
    await prepare?.(lab);
    const project = await lab.project();
    const here = { lab, project, instance };
    const nodes = `${project}/${kind}/nodes`;
    const node = `${nodes}/${NODE_ID}`;
    // The supervisor stays when its last program ends.
    const create: Verb = {
      name: 'create',
      act: () => lab.request('POST', nodes, { name: 'N1', node_id: NODE_ID, ...body }),
      back: () => lab.request('DELETE', node),
    };
    const wrong = await attack(t, here, kind, create);
    const made = await lab.expect(200, 'GET', node);
    const changing = (members: object): Verb => ({
      name: 'change',
      act: () => lab.request('PUT', node, members),
      back: () =>
        lab.request('PUT', node, Object.fromEntries(Object.keys(members).map((name) => [name, made[name] ?? null]))),
    });
    if (!restarts) wrong.push(...(await attack(t, here, kind, changing(change))));
    await changing(change).back();
    if (!isAlwaysOn) {
      const start = {
        name: 'start',
        act: () => lab.request('POST', `${node}/start`),
        back: () => lab.request('POST', `${node}/stop`),
      };
      assert.ok((await start.act()).status < 300);
      await start.back();
      wrong.push(...(await attack(t, here, kind, start)));
      if (live) wrong.push(...(await attack(t, here, kind, { ...changing(live), name: 'change while it runs' })));
    }
    await lab.expect(204, 'DELETE', node);
    assert.equal(wrong.length, 0, `${wrong.length} times:\n${wrong.join('\n')}`);
  });
}
