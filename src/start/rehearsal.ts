// A first answer while the executable is built: what V8 compiles for it then, a start need not compile. It does the same each time, or no
// two builds would be equal.
import { loadConfig } from '../config/load.ts';
import type { Fabric } from '../fabric/fabric.ts';
import { configureLog } from '../host/log.ts';
import type { Store } from '../store/store.ts';
import { assemble } from './assembly.ts';

/** Makes all parts of the server, without any configuration or state of this host, and lets the application answer. */
export async function rehearse(): Promise<void> {
  const nowhere = '/nonexistent';
  const { config } = loadConfig({
    flags: [{ section: 'Server', key: 'port', value: '0', flag: '--port' }],
    ...{ environment: {}, file: '/dev/null', workingDirectory: nowhere, home: nowhere, state: nowhere },
  });
  configureLog({ debug: false, quiet: true, journal: false });
  // Nothing is started: what is stored and what moves frames is not asked.
  const { app } = assemble({ config, store: {} as Store, fabric: {} as Fabric, shutdown: () => {} });
  await app.request('/v2/version');
}
