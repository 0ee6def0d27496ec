// Handles a first request while the executable is built, so that V8's compiled code can be saved for fast starts. It must be deterministic
// to keep builds reproducible.
import { loadConfig } from '../config/load.ts';
import type { Fabric } from '../fabric/fabric.ts';
import { configureLog } from '../host/log.ts';
import type { Store } from '../store/store.ts';
import { assembleController, assembleHost } from './assembly.ts';

/** Creates all parts of the server without this host's configuration or state, and handles a request. */
export async function rehearse(): Promise<void> {
  const nowhere = '/nonexistent';
  const { config } = loadConfig({
    flags: [{ section: 'Server', key: 'port', value: '0', flag: '--port' }],
    environment: {},
    file: '/dev/null',
    workingDirectory: nowhere,
    home: nowhere,
    state: nowhere,
  });
  configureLog({ debug: false, quiet: true, journal: false });
  // Nothing is started: neither store nor fabric is used.
  const store = {} as Store;
  const host = assembleHost({ config, store, fabric: {} as Fabric });
  const { app } = assembleController(host, { store, shutdown: () => {} });
  await app.request('/v2/version');
}
