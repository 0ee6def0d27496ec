// Gives every saved lab of this folder to a server of its own, and compares what that makes of it with what release 2.2.57 does.
//   npm run test:old-projects [-- --from-source] [-- CASE ...]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Daemon } from '../system/daemon.ts';
import { executable, FROM_SOURCE } from '../system/executable.ts';

const words = process.argv.slice(2);
const isFromSource = words.includes('--from-source');
await using daemon = new Daemon({
  program: isFromSource ? FROM_SOURCE : executable(),
  flags: ['--local'],
  environment: { LABWIRE_VPCS_ENGINE: 'built-in' },
});
await daemon.start();
const cases = words.filter((word) => word !== '--from-source');
const player = spawn(process.execPath, [join(import.meta.dirname, 'check.mjs'), '--url', daemon.url, ...cases], {
  stdio: ['ignore', 'inherit', 'inherit'],
});
const [code] = (await once(player, 'exit')) as [number | null];
if (code !== 0 && code !== 1) process.stderr.write(daemon.log);
process.exitCode = code ?? 1;
