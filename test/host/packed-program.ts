// A program for addons.test.ts to pack: loads every addon, and tells where the addons came from.
import { readFileSync, statSync } from 'node:fs';
import { Fabric } from '../../src/fabric/fabric.ts';
import { asset, assetNames, isPackaged } from '../../src/host/files/assets.ts';
import { useAddonDirectory } from '../../src/host/processes/addons.ts';
import { sendUnixDatagram } from '../../src/host/system-calls.ts';
import { version } from '../../src/host/version.ts';

async function main([directory = '']: string[]): Promise<object> {
  useAddonDirectory(directory);
  // Not before the directory is known: both load their addon as soon as they are imported.
  const { default: sqlite3 } = await import('sqlite3');
  const { openPseudoTerminal } = await import('../../src/host/processes/pseudo-terminal.ts');
  const database = new sqlite3.Database(':memory:');
  const sum = await new Promise((done) => database.get('SELECT 1 + 1 AS sum', (_, row) => done(row)));
  database.close();
  const terminal = openPseudoTerminal(80, 24);
  const isTerminal = statSync(terminal.device).isCharacterDevice();
  terminal.output.destroy();
  // koffi, here and in a worker thread.
  let unheard = '';
  try {
    sendUnixDatagram('/nonexistent/socket', Buffer.from('x'));
  } catch (error) {
    unheard = (error as { code: string }).code;
  }
  const fabric = new Fabric();
  await fabric.start();
  const mapped = readFileSync('/proc/self/maps', 'utf8').matchAll(/(\/\S+)\/\.labwired-\w+\/(\S+\.node) \(deleted\)/g);
  const places = [...new Set([...mapped].map(([, place, addon]) => `${addon} from ${place}`))].sort();
  await fabric.stop();
  return {
    isPackaged: isPackaged(),
    version: version(),
    sum,
    isTerminal,
    unheard,
    places,
    symbols: assetNames('symbols').length,
    missing: asset('symbols/no-such.svg') ?? null,
    climbing: asset('symbols/../../addons/koffi.node') ?? null,
  };
}

main(process.argv.slice(2)).then(
  (report) => process.stdout.write(`${JSON.stringify(report)}\n`),
  (error: Error) => {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  },
);
