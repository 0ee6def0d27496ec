// Programs whose news come at bad moments: an end in one piece with the start, a node that cannot be made when its program is waiting.
// What stands in for the supervisor says its frames in one write, which a real one does only now and then.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rename, rm, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { VpcsProcess } from '../../src/compute/emulators/vpcs/process.ts';
import { SwitchedOn } from '../../src/compute/nodes/lifecycle/switched-on.ts';
import { PortPool } from '../../src/compute/ports/pool.ts';
import { Database } from '../../src/store/database.ts';
import { Documents } from '../../src/store/documents.ts';
import { MIGRATIONS } from '../../src/store/migrations.ts';
import { SupervisorClient } from '../../src/supervisor/client.ts';
import { FRAME, type Frame, FrameReader, frame, PROTOCOL } from '../../src/supervisor/protocol.ts';
import { supervisorDirectory } from '../../src/supervisor/socket-path.ts';
import type { ProgramState } from '../../src/supervisor/welcome.ts';
import { eventually } from '../eventually.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { supervisorState } from '../supervisor/harness.ts';
import { type Lab, startLab } from './support.ts';

type Heard = Frame & { socket: Socket };

/** Listens where the daemon looks for its supervisor, and answers its greeting; the rest is up to `heard`. */
async function standIn(
  t: TestContext,
  state: string,
  terminals: ProgramState[],
  heard: (frame: Heard) => void,
): Promise<void> {
  const server = createServer((socket) => {
    const reader = new FrameReader();
    socket.on('error', () => {});
    socket.on('data', (part: Buffer) => {
      for (const received of reader.read(part)) {
        if (received.type !== FRAME.hello) heard({ ...received, socket });
        else socket.write(frame(FRAME.welcome, 0, { protocol: PROTOCOL, pid: process.pid, terminals }));
      }
    });
  });
  server.listen(join(supervisorDirectory(state), 'socket'));
  await once(server, 'listening');
  t.after(() => server.close());
}

const BANNER = "Welcome to Virtual PC Simulator\r\nPress '?' to get help.\r\n\r\nVPCS> ";

test('a PC whose program ends in the same moment as it says that it runs is not taken for started', async (t) => {
  const place = supervisorState();
  await standIn(t, place.state, [], ({ type, id, socket }) => {
    if (type !== FRAME.start) return;
    const news = [
      frame(FRAME.started, id, { pid: 4_000_000 }),
      frame(FRAME.output, id, Buffer.from(BANNER)),
      frame(FRAME.exit, id, { code: 3 }),
    ];
    socket.write(Buffer.concat(news));
  });
  const supervisor = new SupervisorClient({ ...place, lost: async () => {} });
  t.after(() => supervisor.leave());
  await supervisor.join();
  const directory = await scratchDirectory(t);
  const pc = new VpcsProcess({ supervisor, name: 'PC1', command: ['/bin/true'], directory, environment: {} });
  await assert.rejects(pc.start(), /ended at once \(exit code 3\)/);
  assert.equal(pc.pid, undefined);
});

/** A project in which no PC can be made, as something else is where its files would be; `clear` takes that away. */
async function blocked(lab: Lab, id: string): Promise<{ project: string; clear: () => Promise<void> }> {
  const project = await lab.project(id);
  const files = join(lab.config.Server.projects_path, id, 'project-files');
  await rename(files, `${files}.aside`).catch(() => {});
  await writeFile(files, '');
  return { project, clear: () => rm(files) };
}

test('a built-in PC that was on is on again at the second attempt to make it', async (t) => {
  const directory = await scratchDirectory(t);
  const instance = randomUUID();
  const body = { name: 'PC1', node_id: randomUUID(), startup_script: 'echo' };
  const id = randomUUID();
  {
    // What a former life of the server has noted.
    await using database = await Database.open(join(directory, 'labwire.db'), MIGRATIONS);
    const udp = new PortPool({ range: [1, 1], purpose: 'test', keys: '', bindable: async () => true });
    await new SwitchedOn(new Documents(database), udp).add({ id: body.node_id, project: { id } }, { number: 3 });
  }
  const lab = await startLab(t, { instance, engine: 'built-in' }, directory);
  const { project, clear } = await blocked(lab, id);
  await lab.expect(409, 'POST', `${project}/vpcs/nodes`, body);
  await clear();
  const made = await lab.expect(201, 'POST', `${project}/vpcs/nodes`, body);
  assert.deepEqual([made.status, made.command_line], ['started', 'built-in PC, MAC address 00:50:79:66:68:03']);
});

test('the program of a node that cannot be made waits for its end', async (t) => {
  const directory = await scratchDirectory(t);
  const instance = randomUUID();
  const [project, node] = [randomUUID(), randomUUID()];
  const record = {
    ...{ kind: 'vpcs', version: 1, project_id: project, node_id: node, node_name: 'PC1', command_line: '/bin/true' },
    udp_ports: [14_900, 14_901],
    data: { program_port: 14_900, cable_port: 14_901, number: 1 },
  };
  const signals: Heard[] = [];
  await standIn(t, directory, [{ id: 7, pid: 4_000_000, record }], (heard) => {
    if (heard.type !== FRAME.signal) return;
    signals.push(heard);
    heard.socket.write(frame(FRAME.exit, heard.id, { code: 0, signal: 'SIGTERM' }));
  });
  const lab = await startLab(t, { instance, engine: 'built-in' }, directory);
  const { project: path } = await blocked(lab, project);
  const body = { name: 'PC1', node_id: node, startup_script: 'echo' };
  await lab.expect(409, 'POST', `${path}/vpcs/nodes`, body);
  assert.equal(signals.length, 0);
  await lab.expect(204, 'POST', `${path}/close`);
  await eventually('the end of the program', () => signals.length === 1);
  assert.equal(signals[0]?.id, 7);
});
