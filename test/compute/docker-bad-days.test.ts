// What goes wrong with containers, with real Docker Engines where that can be had: an Engine that is too old is a stand-in on a Unix socket.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { engineCheck } from '../../src/compute/emulators/docker/doctor.ts';
import { Engine } from '../../src/compute/emulators/docker/engine.ts';
import { EngineEvents } from '../../src/compute/emulators/docker/engine-events.ts';
import { findProgram } from '../../src/host/processes/program-path.ts';
import { eventually } from '../eventually.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { BUSYBOX, TestEngine } from './docker-engine.ts';
import { cable, container, containers, noEngine as skip, status, typist } from './docker-support.ts';
import { startLab } from './support.ts';

/** An Engine with options of its own, gone with the test. */
async function engineWith(t: TestContext, ...options: string[]): Promise<TestEngine> {
  const engine = await TestEngine.make(options);
  t.after(() => engine[Symbol.asyncDispose]());
  await engine.importBusybox();
  return engine;
}

test('where the Engine lets containers live over its own restart, nodes go on, with their consoles and cables', {
  skip,
}, async (t) => {
  const engine = await engineWith(t, '--live-restore');
  const { lab, project } = await containers(t, { docker: { socket_path: engine.socketPath } });
  const nodes = [await container(lab, project, { name: 'C1' }), await container(lab, project, { name: 'C2' })];
  await cable(lab, project, [
    [nodes[0]!, 0],
    [nodes[1]!, 0],
  ]);
  for (const node of nodes) await lab.expect(204, 'POST', `${node}/start`);
  const [one, two] = [await typist(t, lab, nodes[0]!), await typist(t, lab, nodes[1]!)];
  await one.run('ip addr add 10.0.0.1/24 dev eth0');
  await two.run('ip addr add 10.0.0.2/24 dev eth0; kept=yes');
  await engine.stop();
  assert.equal((await lab.request('GET', '/docker/images')).status, 409);
  await engine.start();
  // Each console is there again when the server has found the Engine; what was typed before is lost.
  for (const [typist, expected] of [
    [one, /<>/],
    [two, /<yes>/],
  ] as const)
    await eventually(
      'the console',
      () => {
        typist.socket.write('echo "<$kept>"\r');
        return typist.heard;
      },
      (heard) => expected.test(heard),
    );
  assert.deepEqual(await Promise.all(nodes.map((node) => status(lab, node))), ['started', 'started']);
  assert.match(await one.run('ping -c 2 10.0.0.2'), /2 packets received/);
  await lab.expect(204, 'POST', `${nodes[0]}/stop`);
  await lab.expect(204, 'POST', `${project}/close`);
  assert.deepEqual(engine.containers(), []);
  assert.deepEqual(
    lab.messages.filter(({ action }) => action === 'log.error'),
    [],
  );
});

test('while the Engine is away a failed start takes no events from the containers that are followed', async (t) => {
  const path = join(await scratchDirectory(t), 'docker.sock');
  const listen = async (): Promise<Server> => {
    const server = createServer((request, answer) => {
      if (!request.url!.includes('/events'))
        return void answer.end(JSON.stringify({ Version: '24', ApiVersion: '1.43' }));
      answer.writeHead(200).flushHeaders();
    }).listen(path);
    await once(server, 'listening');
    return server;
  };
  const end = async (server: Server): Promise<void> => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
    await rm(path, { force: true });
  };
  const events = new EngineEvents(new Engine(path), 'x');
  const heard: string[] = [];
  let server = await listen();
  await events.follow('A', (event) => heard.push(event));
  for (let outage = 1; outage <= 2; outage += 1) {
    await end(server);
    // Also while an attempt of the server's own is under way.
    for (const start of ['B', 'C', 'D']) {
      await assert.rejects(events.follow(start, () => heard.push(start)));
      await sleep(150);
    }
    server = await listen();
    // One that starts now has missed nothing, and may be the first that reaches the Engine.
    await events.follow('E', () => heard.push('E'));
    await eventually('the return of the Engine', () => heard.length === outage, Boolean, 10_000);
    events.unfollow('E');
  }
  assert.deepEqual(heard, ['engine-back', 'engine-back']);
  events.unfollow('A');
  await end(server);
});

test('an Engine that is too old is refused with what to install, also by the doctor', async (t) => {
  const socket_path = join(await scratchDirectory(t), 'old.sock');
  const standIn = createServer((asked, answer) => {
    if (asked.url !== '/version') return void answer.writeHead(404).end('{}');
    answer.end(JSON.stringify({ Version: '18.09.9', ApiVersion: '1.39', MinAPIVersion: '1.12' }));
  }).listen(socket_path);
  await once(standIn, 'listening');
  t.after(() => standIn.close());
  const lab = await startLab(t, { docker: { socket_path } });
  const project = await lab.project();
  for (const refused of [
    await lab.request('GET', '/docker/images'),
    await lab.request('POST', `${project}/docker/nodes`, { name: 'X', image: 'x', console_type: 'telnet' }),
  ]) {
    assert.deepEqual([refused.status, refused.body.exception], [409, 'DockerError']);
    assert.match(refused.body.message, /Docker 18\.09\.9 is too old, its API is 1\.39: install Docker 19\.03 or later/);
  }
  assert.deepEqual(await engineCheck.examine(lab.config, undefined), {
    state: 'warning',
    detail: 'Docker 18.09.9 is too old, its API is 1.39',
    fix: 'install Docker 19.03 or later.',
  });
});

test('with privileged = always containers may do everything; where the host refuses that, the error says what to set', {
  skip,
}, async (t) => {
  const runc = (await findProgram('runc'))!;
  const lenient = join(await scratchDirectory(t), 'runc');
  // For hosts that lack a right themselves, which no container can have then: real containers with all others.
  await writeFile(
    lenient,
    `#!/bin/sh
previous=
for word; do
  case $previous in
  --bundle) sed -i 's/"CAP_SYS_RESOURCE",//g' "$word/config.json" ;;
  --process) sed -i 's/"CAP_SYS_RESOURCE",//g' "$word" ;;
  esac
  previous=$word
done
exec ${runc} "$@"
`,
  );
  await chmod(lenient, 0o755);
  const engine = await engineWith(t, '--add-runtime', `lenient=${lenient}`, '--default-runtime', 'lenient');
  const { lab, project } = await containers(t, { docker: { socket_path: engine.socketPath, privileged: 'always' } });
  const node = await container(lab, project);
  await lab.expect(204, 'POST', `${node}/start`);
  const { container_id: id } = await lab.expect(200, 'GET', node);
  assert.equal(engine.docker('inspect', '-f', '{{.HostConfig.Privileged}}', id).trim(), 'true');
  const console = await typist(t, lab, node);
  assert.match(await console.run('mkdir -p /mnt; mount -t tmpfs none /mnt'), /\n0$/);
  assert.match(await console.run('echo alive >/mnt/file; cat /mnt/file'), /alive/);
  assert.equal(lab.messages.filter(({ action }) => action === 'log.warning').length, 0);

  await writeFile(
    lenient,
    `#!/bin/sh
for word; do [ "$word" = create ] && { echo "unable to apply caps: operation not permitted" >&2; exit 1; }; done
exec ${runc} "$@"
`,
  );
  // It has stopped by then.
  const reloaded = await lab.request('POST', `${node}/reload`);
  assert.deepEqual([reloaded.status, reloaded.body.exception], [409, 'DockerError']);
  assert.equal(await status(lab, node), 'stopped');
  await lab.expect(204, 'POST', `${project}/close`);

  const other = await containers(t, {
    docker: { socket_path: engine.socketPath, privileged: 'always' },
    ...{ console: [16_000, 16_999] as [number, number], udp: [17_000, 17_999] as [number, number] },
  });
  const refused = await container(other.lab, other.project);
  const answer = await other.lab.request('POST', `${refused}/start`);
  assert.deepEqual([answer.status, answer.body.exception], [409, 'DockerError']);
  assert.match(
    answer.body.message,
    /does not let containers run privileged[\s\S]*set privileged = automatic in section \[Docker\]/,
  );
  assert.equal(await status(other.lab, refused), 'stopped');
});

test('volumes may have odd names, and keep their content; a name that is ambiguous is refused', {
  skip,
}, async (t) => {
  const { lab, project, directory } = await containers(t);
  const odd = [
    '/two words',
    '/it\'s "quoted"',
    '/ü, komma=1',
    '/st*r?',
    '/$HOME `id`',
    '/-rf',
    '/back\\slash',
    '/deep/er/{}',
  ];
  const node = await container(lab, project, { extra_volumes: odd });
  const place = join(directory, 'project-files/docker', node.split('/').at(-1)!);
  await lab.expect(204, 'POST', `${node}/start`);
  await mkdir(join(place, 'st*r?'), { recursive: true });
  for (const [index, volume] of odd.entries())
    await writeFile(join(place, volume, 'file'), `${index}`, { mode: 0o640 });
  const console = await typist(t, lab, node);
  const quoted = odd.map((volume) => `'${volume.replaceAll("'", `'\\''`)}/file'`);
  for (const [index, path] of quoted.entries()) {
    assert.match(await console.run(`cat ${path}; chown 7:8 ${path}`), new RegExp(`^${index}\\s`));
  }
  await lab.expect(204, 'POST', `${node}/stop`);
  for (const volume of odd) {
    assert.match(await readFile(join(place, volume, '.gns3_perms'), 'utf8'), /^640:7:8:\/.*\/file$/m, volume);
  }
  await lab.expect(204, 'POST', `${node}/start`);
  const again = await typist(t, lab, node);
  for (const path of quoted) assert.match(await again.run(`stat -c '%a %u %g' ${path}`), /^640 7 8\s/);
  for (const volume of ['/a:b', 'relative', '/a/../b', '/line\nbreak']) {
    const body = { name: 'X', image: BUSYBOX, console_type: 'telnet', extra_volumes: [volume] };
    const refused = await lab.request('POST', `${project}/docker/nodes`, body);
    assert.equal(refused.status, 409, volume);
    assert.match(refused.body.message, /^extra_volumes: /);
  }
});
