// Starts what a server is made of while the executable is built, and handles a first request, so that V8's compiled code can be saved for
// fast starts. It must be deterministic to keep builds reproducible: the starts of the compute and the fabric depend on the host.
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../config/load.ts';
import type { Fabric } from '../fabric/fabric.ts';
import { configureLog } from '../host/log.ts';
import { HttpServer } from '../http/app/server.ts';
import { Store } from '../store/store.ts';
import { assembleController, assembleHost } from './assembly.ts';

/** Creates all parts of the server with a state directory of their own, and handles a request. */
export async function rehearse(): Promise<void> {
  const state = await mkdtemp(join(tmpdir(), 'labwired-rehearsal-'));
  try {
    const nowhere = '/nonexistent';
    const { config } = loadConfig({
      flags: [{ section: 'Server', key: 'port', value: '0', flag: '--port' }],
      environment: {},
      file: '/dev/null',
      workingDirectory: nowhere,
      home: nowhere,
      state,
    });
    configureLog({ debug: false, quiet: true, journal: false });
    await using store = await Store.open({ stateDirectory: state });
    const host = assembleHost({ config, store, fabric: {} as Fabric });
    const { app, controller } = assembleController(host, { store, shutdown: () => {} });
    await controller.start(0);
    const server = new HttpServer(app, { host: '127.0.0.1', port: 0 });
    const { port } = await server.start();
    const [answer] = (await once(get({ port, path: '/v2/version', agent: false }), 'response')) as [IncomingMessage];
    await once(answer.resume(), 'end');
    await server.stop();
    await controller.stop();
  } finally {
    await rm(state, { recursive: true });
  }
}
