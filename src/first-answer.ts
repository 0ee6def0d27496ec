// A first answer while the executable is built: what V8 compiles for it then, a start need not compile. It does the same each time, or no
// two builds would be equal.
import { get } from 'node:http';
import { loadConfig } from './config/load.ts';
import { openFront } from './front.ts';
import { configureLog } from './host/log.ts';

/** Lets the front answer at a free port, without any configuration or state of this host. */
export async function firstAnswer(): Promise<void> {
  const nowhere = '/nonexistent';
  const { config } = loadConfig({
    flags: [{ section: 'Server', key: 'port', value: '0', flag: '--port' }],
    ...{ environment: {}, file: '/dev/null', workingDirectory: nowhere, home: nowhere, state: nowhere },
  });
  configureLog({ debug: false, quiet: true, journal: false });
  const { server, address } = await openFront(config);
  await new Promise((resolve, reject) => {
    const asked = get({ port: address.port, path: '/v2/version' }, (answer) => answer.resume().on('end', resolve));
    asked.on('error', reject);
  });
  await server.stop(0);
}
