// Routers as nodes of a compute, with the real Dynamips.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { findOurs } from '../../src/host/processes/child-processes.ts';
import { type Image, makeImage, noDynamips, READY, router, routers, Typist } from './router-support.ts';

const skip = noDynamips;

const PLATFORMS: [platform: string, image: Image, ram: number][] = [
  ['c3600', 'c3600', 64],
  ['c7200', 'c7200', 128],
  ['c2691', 'c37xx', 64],
  ['c3725', 'c37xx', 64],
  ['c3745', 'c37xx', 64],
  ['c2600', 'c2600', 64],
  ['c1700', 'c1700', 64],
];

test('a router of each platform boots, and echoes what is typed on its console', { skip }, async (t) => {
  const made = await routers(t, ['c3600', 'c7200', 'c37xx', 'c2600', 'c1700']);
  const { lab } = made;
  for (const [platform, image, ram] of PLATFORMS) {
    const path = await router(made, platform, image, { ram, name: platform });
    await lab.expect(204, 'POST', `${path}/start`);
    const { status, console } = await lab.expect(200, 'GET', path);
    assert.equal(status, 'started');
    const typist = new Typist(t, console);
    await typist.sees(READY);
    typist.socket.write('typed');
    await typist.sees('typed');
    await lab.expect(204, 'POST', `${path}/stop`);
    assert.equal((await lab.expect(200, 'GET', path)).status, 'stopped');
  }
});

test('configurations go into a router, come out of it, and follow its name and its copies', { skip }, async (t) => {
  const made = await routers(t, ['c3600']);
  const { lab, project, directory } = made;
  const given = { startup_config_content: 'hostname %h\r\nend\r\n', private_config_content: 'key of %h\n' };
  const path = await router(made, 'c3600', 'c3600', { name: 'Spring', ...given });
  const file = (of: string, name: string) =>
    readFile(join(directory, 'project-files/dynamips', of.split('/').at(-1)!, 'configs', name), 'utf8');
  assert.equal(await file(path, 'i1_startup-config.cfg'), '!\nhostname Spring\nend\n');
  assert.equal(await file(path, 'i1_private-config.cfg'), '!\nkey of Spring\n');
  await lab.expect(200, 'PUT', path, { name: 'Brook' });
  assert.equal(await file(path, 'i1_startup-config.cfg'), '!\nhostname Brook\nend\n');
  assert.equal(await file(path, 'i1_private-config.cfg'), '!\nkey of Brook\n');
  await lab.expect(204, 'POST', `${path}/start`);
  const running = await lab.expect(409, 'PUT', path, { name: 'River' });
  assert.deepEqual([running.exception, /stop it/.test(running.message)], ['DynamipsError', true]);
  await writeFile(
    join(directory, 'project-files/dynamips', path.split('/').at(-1)!, 'configs/i1_startup-config.cfg'),
    '',
  );
  await lab.expect(204, 'POST', `${path}/stop`);
  // What was pushed into its memory has come out of it again.
  assert.equal(await file(path, 'i1_startup-config.cfg'), '!\nhostname Brook\nend\n');
  // A lab that is reopened has the texts of the creation; the router has saved others since.
  await writeFile(
    join(directory, 'project-files/dynamips', path.split('/').at(-1)!, 'configs/i1_startup-config.cfg'),
    '!\nhostname Saved\nend\n',
  );
  await lab.expect(204, 'POST', `${project}/close`);
  await lab.project(project.split('/').at(-1));
  await router(made, 'c3600', 'c3600', { name: 'Brook', ...given, node_id: path.split('/').at(-1) });
  assert.equal(await file(path, 'i1_startup-config.cfg'), '!\nhostname Saved\nend\n');
  const copy = await router(made, 'c3600', 'c3600', { name: 'Mouth' });
  await lab.expect(201, 'POST', `${path}/duplicate`, { destination_node_id: copy.split('/').at(-1) });
  assert.equal(await file(copy, 'i2_startup-config.cfg'), '!\nhostname Mouth\nend\n');
  assert.equal(await file(copy, 'i2_private-config.cfg'), '!\nkey of Mouth\n');
  await lab.expect(204, 'DELETE', path);
  await lab.expect(204, 'DELETE', copy);
  assert.deepEqual(readdirSync(join(directory, 'project-files/dynamips')), []);
  assert.deepEqual((await lab.expect(200, 'GET', project)).project_id, project.split('/').at(-1));
});

test('configurations need not be UTF-8, and of a name only whole words are replaced', { skip }, async (t) => {
  const made = await routers(t, ['c3600']);
  const { lab, directory } = made;
  const given = {
    startup_config_content: 'hostname %h\nline é\n',
    private_config_content: 'key AR1B R1-a R1.lab R1\n',
  };
  const path = await router(made, 'c3600', 'c3600', { name: 'R1', ...given });
  const configs = join(directory, 'project-files/dynamips', path.split('/').at(-1)!, 'configs');
  const startup = join(configs, 'i1_startup-config.cfg');
  assert.equal(await readFile(startup, 'utf8'), '!\nhostname R1\nline é\n');
  await lab.expect(200, 'PUT', path, { name: 'R2' });
  assert.equal(await readFile(startup, 'utf8'), '!\nhostname R2\nline é\n');
  assert.equal(await readFile(join(configs, 'i1_private-config.cfg'), 'utf8'), '!\nkey AR1B R1-a R2.lab R2\n');
  const text = '!\nhostname R2\nbanner motd ^C Acc\xe8s r\xe9serv\xe9 ^C\nend\n';
  await writeFile(startup, text, 'latin1');
  await lab.expect(204, 'POST', `${path}/start`);
  await writeFile(startup, '');
  await lab.expect(204, 'POST', `${path}/stop`);
  assert.equal(await readFile(startup, 'latin1'), text);
  await lab.expect(200, 'PUT', path, { name: 'R3' });
  assert.equal(await readFile(startup, 'latin1'), text.replace('R2', 'R3'));
  const copy = await router(made, 'c3600', 'c3600', { name: 'R4' });
  await lab.expect(201, 'POST', `${path}/duplicate`, { destination_node_id: copy.split('/').at(-1) });
  const copied = join(directory, 'project-files/dynamips', copy.split('/').at(-1)!, 'configs/i2_startup-config.cfg');
  assert.equal(await readFile(copied, 'latin1'), text.replace('R2', 'R4'));
});

test('a router that runs is suspended, goes on, is switched off and on, and is gone with its ports', {
  skip,
}, async (t) => {
  const instance = randomUUID();
  const made = await routers(t, ['c3600'], { instance });
  const { lab } = made;
  const path = await router(made, 'c3600', 'c3600', { aux: 12_900 });
  const status = async () => (await lab.expect(200, 'GET', path)).status;
  const { aux, console } = await lab.expect(200, 'GET', path);
  assert.equal(aux, 12_900);
  lab.events();
  for (const verb of ['suspend', 'resume', 'stop']) await lab.expect(204, 'POST', `${path}/${verb}`);
  assert.equal(await status(), 'stopped');
  await lab.expect(204, 'POST', `${path}/start`);
  await lab.expect(204, 'POST', `${path}/start`);
  const typist = new Typist(t, console);
  await typist.sees(READY);
  await new Typist(t, aux).sees('AUX port');
  await lab.expect(204, 'POST', `${path}/suspend`);
  assert.equal(await status(), 'suspended');
  await lab.expect(204, 'POST', `${path}/start`);
  assert.equal(await status(), 'started');
  typist.socket.write('still there');
  await typist.sees('still there');
  await lab.expect(204, 'POST', `${path}/reload`);
  await new Typist(t, console).sees(READY);
  const news = lab.events('log.info', 'compute.updated').filter((event) => event.startsWith('node.updated'));
  assert.deepEqual(
    news.map((event) => event.split(' ')[1]),
    ['stopped', 'started', 'suspended', 'started', 'stopped', 'started'],
  );
  await lab.expect(204, 'DELETE', path);
  assert.deepEqual(
    findOurs(instance).filter(({ nodeId }) => nodeId !== ''),
    [],
  );
  const { console_ports, udp_ports } = await lab.expect(200, 'GET', '/network/ports');
  assert.deepEqual([console_ports, udp_ports], [[], []]);
});

test('cards go where they fit, and into and out of a running router of the kind that allows it', {
  skip,
}, async (t) => {
  const made = await routers(t, ['c3600', 'c7200', 'c37xx']);
  const { lab, project } = made;
  const refused = async (platform: string, more: object, member: RegExp) => {
    const body = { name: 'R', platform, image: 'c7200.image', ram: 64, ...more };
    const { message, exception } = await lab.expect(409, 'POST', `${project}/dynamips/nodes`, body);
    assert.match(message, member);
    assert.equal(exception, 'DynamipsError');
  };
  await refused('c9999', {}, /^platform/);
  await refused('c7200', { chassis: '3640' }, /^chassis/);
  await refused('c3600', { chassis: '2610' }, /^chassis/);
  await refused('c3600', { slot4: 'NM-1E' }, /^slot4/);
  await refused('c3745', { slot1: 'NM-1E' }, /^slot1/);
  await refused('c7200', { slot1: 'NM-1E' }, /^slot1/);
  await refused('c3745', { wic0: 'WIC-1ENET' }, /^wic0/);
  await refused('c7200', { dynamips_id: 5000 }, /^dynamips_id/);
  await refused('c7200', { sensors: [1] }, /^sensors/);
  await refused('c7200', { ram: 0 }, /^ram/);
  const wics = await router(made, 'c3745', 'c37xx', { wic0: 'WIC-2T', slot1: 'NM-16ESW' });
  await lab.expect(409, 'POST', `${project}/dynamips/nodes`, {
    ...{ name: 'R', platform: 'c7200', image: 'c7200.image', ram: 64, dynamips_id: 1 },
  });
  const nio = { type: 'nio_udp', lport: 15_500, rhost: '127.0.0.1', rport: 15_501 };
  await lab.expect(201, 'POST', `${wics}/adapters/0/ports/17/nio`, nio);
  for (const port of ['0/ports/18', '1/ports/16', '2/ports/0']) {
    await lab.expect(409, 'POST', `${wics}/adapters/${port}/nio`, { ...nio, lport: 15_502 });
  }
  await lab.expect(200, 'PUT', wics, { wic0: '', wic1: 'WIC-1T' });
  await lab.expect(409, 'DELETE', `${wics}/adapters/0/ports/17/nio`);

  const path = await router(made, 'c7200', 'c7200', { ram: 128, slot1: 'PA-FE-TX' });
  await lab.expect(201, 'POST', `${path}/adapters/1/ports/0/nio`, nio);
  await lab.expect(204, 'POST', `${path}/start`);
  await lab.expect(201, 'POST', `${path}/adapters/0/ports/0/nio`, { ...nio, lport: 15_503 });
  for (const body of [{ npe: 'npe-300' }, { slot0: 'C7200-IO-2FE' }, { slot0: null }]) {
    assert.match((await lab.expect(409, 'PUT', path, body)).message, /stop it/);
  }
  const changed = await lab.expect(200, 'PUT', path, {
    slot1: 'PA-4T+',
    slot2: 'PA-8E',
    idlepc: '0x60008084',
    idlemax: 700,
  });
  assert.deepEqual([changed.slot1, changed.slot2, changed.idlemax], ['PA-4T+', 'PA-8E', 700]);
  await lab.expect(201, 'POST', `${path}/adapters/2/ports/7/nio`, { ...nio, lport: 15_504 });
  assert.equal((await lab.expect(200, 'PUT', path, { slot2: '' })).slot2, null);
  await lab.expect(409, 'DELETE', `${path}/adapters/2/ports/7/nio`);
  await lab.expect(204, 'DELETE', `${path}/adapters/0/ports/0/nio`);
  await lab.expect(204, 'POST', `${path}/stop`);
  assert.deepEqual((await lab.expect(200, 'GET', '/network/ports')).udp_ports, []);
});

test('what is no whole image does not start, and says so', { skip }, async (t) => {
  const made = await routers(t, ['c3600']);
  const { lab, project, images } = made;
  await writeFile(join(images, 'disk.image'), 'x'.repeat(5000));
  await writeFile(join(images, 'cut.image'), await readFile(join(images, 'c3600.image')));
  await truncate(join(images, 'cut.image'), 0x8010);
  await writeFile(join(images, 'headless.image'), '7f454c4601');
  for (const [image, reason] of [
    ['disk.image', /no image of a router/],
    ['cut.image', /not whole/],
    ['headless.image', /no image of a router/],
  ] as const) {
    const path = await lab.node(project, 'dynamips', { platform: 'c3600', image, ram: 64 });
    const { message, exception } = await lab.expect(409, 'POST', `${path}/start`);
    assert.match(message, reason);
    assert.equal(exception, 'DynamipsError');
    assert.equal((await lab.expect(200, 'GET', path)).status, 'stopped');
  }
  const unshared = await router(made, 'c3600', 'c3600', { mmap: false });
  assert.match((await lab.expect(409, 'POST', `${unshared}/start`)).message, /^mmap/);
});

test('routers of one image share the memory that they have not written to, and leave no file of it behind', {
  skip,
}, async (t) => {
  const instance = randomUUID();
  const made = await routers(t, [], { instance });
  const { lab, project, directory, images } = made;
  const [ram, content] = [64, 16 * 1024 * 1024];
  await makeImage(images, 'c3600', content);
  const nodes = [
    await router(made, 'c3600', 'c3600', { ram }),
    await router(made, 'c3600', 'c3600', { ram, name: 'R2' }),
  ];
  for (const node of nodes) await lab.expect(204, 'POST', `${node}/start`);
  const shared = (): string[] =>
    readdirSync(join(directory, 'project-files/dynamips')).filter((name) => name.endsWith('.ghost'));
  assert.match(shared().join(), /^c3600\.image-[0-9a-f]{8}-64\.ghost$/);
  for (const { pid } of findOurs(instance).filter(({ nodeId }) => nodeId !== '')) {
    assert.ok(readFileSync(`/proc/${pid}/maps`, 'utf8').includes(shared()[0]!));
    // The image's content is nobody's own.
    const own = Number(/^Private_Dirty: +(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))![1]);
    assert.ok(own * 1024 < content, `${own} KB`);
  }
  await lab.expect(204, 'DELETE', nodes[0]!);
  assert.equal(shared().length, 1);
  await lab.expect(204, 'POST', `${project}/close`);
  assert.deepEqual(shared(), []);
});
