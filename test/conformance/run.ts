// Plays every scenario against the real server and compares what does not pass with expected-gaps.json.
//   npm run test:conformance [-- --from-source] [-- --only 'link/*'] [-- --engine vpcs]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findProgram } from '../../src/host/processes/program-path.ts';
import { tryEngine } from '../compute/docker-engine.ts';
import { Daemon } from '../system/daemon.ts';
import { executable, FROM_SOURCE } from '../system/executable.ts';
import { type Gap, judge, type Played } from './judge.ts';

/** What this server is meant to have: a scenario that misses it has failed. */
const REQUIRED = ['loopback', 'local', 'vpcs', 'qemu', 'qemu-img'];

/** For containers, where one runs. */
const docker = await tryEngine();

/** What not every host has, and why this one has not. */
const lacking: Record<string, string> = {
  ...(typeof docker === 'string' ? { docker } : {}),
  ...((await findProgram('dynamips')) === undefined ? { dynamips: 'dynamips is not installed' } : {}),
};
for (const [need, reason] of Object.entries(lacking)) process.stdout.write(`no ${need}: ${reason}\n`);
const required = [...REQUIRED, 'docker', 'dynamips'].filter((need) => !(need in lacking));

/** Areas whose scenarios name fixed UDP ports or emulators that want the host for themselves: one after the other. */
const EMULATORS =
  /^(atm-switch|cloud|docker|dynamips|ethernet-hub|ethernet-switch|frame-relay-switch|iou|nat|other-emulators|qemu|vpcs)$/;

const { values: options } = parseArgs({
  options: {
    'from-source': { type: 'boolean' },
    engine: { type: 'string' },
    only: { type: 'string', multiple: true, default: [] },
  },
});

type Engine = 'vpcs' | 'built-in';

interface Lane {
  areas: readonly string[];
  /** What runs virtual PCs, unless --engine says so. */
  engine: Engine;
  /** Where the ports of the lane's daemon start. */
  consolePort: number;
  udpPort: number;
}

/** Plays areas on a daemon of their own. */
async function play({ areas, engine: usual, consolePort, udpPort }: Lane): Promise<Played[]> {
  if (areas.length === 0) return [];
  const engineOfPcs = (options.engine ?? usual) as Engine;
  await using daemon = new Daemon({
    program: options['from-source'] ? FROM_SOURCE : executable(),
    flags: ['--local'],
    environment: {
      LABWIRE_VPCS_ENGINE: engineOfPcs,
      ...(typeof docker === 'string' ? {} : { LABWIRE_DOCKER_SOCKET_PATH: docker.socketPath }),
      LABWIRE_SERVER_CONSOLE_START_PORT_RANGE: `${consolePort}`,
      LABWIRE_SERVER_CONSOLE_END_PORT_RANGE: `${consolePort + 2400}`,
      LABWIRE_SERVER_UDP_START_PORT_RANGE: `${udpPort}`,
      LABWIRE_SERVER_UDP_END_PORT_RANGE: `${udpPort + 2400}`,
    },
  });
  await daemon.start();
  const result = join(daemon.directory, 'result.json');
  const words = ['--url', daemon.url, '--require', required.join(','), '--json', result];
  const selection = [...areas.map((area) => ['--area', area]), ...options.only.map((glob) => ['--only', glob])];
  const player = spawn(process.execPath, [join(import.meta.dirname, 'replay.mjs'), ...words, ...selection.flat()], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(player, 'exit');
  // With --only a whole lane may have nothing to play.
  if (code === 2 && options.only.length > 0) return [];
  if (code !== 0 && code !== 1) throw new Error(`the player failed with exit code ${code}\n${daemon.log}`);
  const { scenarios } = JSON.parse(readFileSync(result, 'utf8')) as { scenarios: Played[] };
  return scenarios.map((scenario) => ({ ...scenario, engine: engineOfPcs }));
}

/** What the installed vpcs says of itself. */
async function vpcsVersion(): Promise<string> {
  const child = spawn('vpcs', ['-v'], { stdio: ['ignore', 'pipe', 'ignore'] });
  child.on('error', () => {});
  return (await child.stdout.toArray()).join('');
}

const areas = readdirSync(join(import.meta.dirname, 'scenarios')).sort();
const gaps = JSON.parse(readFileSync(join(import.meta.dirname, 'expected-gaps.json'), 'utf8')) as Record<string, Gap>;
for (const area of areas) {
  for (const file of readdirSync(join(import.meta.dirname, 'scenarios', area))) {
    const { name, needs = [] } = JSON.parse(
      readFileSync(join(import.meta.dirname, 'scenarios', area, file), 'utf8'),
    ) as { name: string; needs?: string[] };
    const need = needs.find((one) => one in lacking);
    if (need !== undefined) gaps[`${area}/${name}`] = lacking[need]!;
  }
}
const others = areas.filter((area) => !EMULATORS.test(area));
const emulators = areas.filter((area) => EMULATORS.test(area));
const lanes: Lane[] = [
  { areas: others, engine: 'built-in', consolePort: 5000, udpPort: 20_000 },
  { areas: emulators, engine: 'vpcs', consolePort: 7500, udpPort: 22_500 },
];
// What is about virtual PCs is played with the other engine, too.
if (options.engine === undefined) {
  const areas = ['console', 'link', 'project', 'snapshot'];
  lanes.push({ areas, engine: 'vpcs', consolePort: 10_000, udpPort: 25_000 });
  lanes.push({ areas: ['vpcs'], engine: 'built-in', consolePort: 12_500, udpPort: 27_500 });
}
const playing = lanes.map(play);
if (options.engine === undefined) {
  const again: Lane = { areas: ['node'], engine: 'vpcs', consolePort: 5000, udpPort: 20_000 };
  // Not beside the first lane, which has it, too: a scenario of it listens at a port of its own.
  playing.push(playing[0]!.then(() => play(again)));
}
const [played, vpcs] = await Promise.all([Promise.all(playing), vpcsVersion()]);
if (typeof docker !== 'string') await docker[Symbol.asyncDispose]();
const { lines, passed, failed, skipped } = judge(played.flat(), gaps, { vpcs, complete: options.only.length === 0 });
process.stdout.write(`${lines.join('\n')}\n\n${passed} passed, ${failed} failed, ${skipped} skipped\n`);
process.exitCode = failed > 0 ? 1 : 0;
