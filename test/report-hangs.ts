// Loaded before each file of tests: writes what its process does when it has not ended after minutes. A test that hangs once in hundreds of runs
// leaves nothing else to go by.
import { Session } from 'node:inspector/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

/** Sooner than the time limit (ms) of a test. */
const AFTER_MS = 420_000;
const PROFILED_MS = 2_000;
const MOST = 12;

/** The functions that took most time, with those that called them. */
async function profile(): Promise<string[]> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.start');
  await sleep(PROFILED_MS);
  const { nodes } = (await session.post('Profiler.stop')).profile;
  session.disconnect();
  const callers = new Map(nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node] as const)));
  const busy = nodes.toSorted((one, other) => (other.hitCount ?? 0) - (one.hitCount ?? 0)).slice(0, MOST);
  return busy.map((node) => {
    const names: string[] = [];
    for (let one: typeof node | undefined = node; one && names.length < 6; one = callers.get(one.id))
      names.push(
        `${one.callFrame.functionName}:${one.callFrame.url.split('/').at(-1)}:${one.callFrame.lineNumber + 1}`,
      );
    return `${node.hitCount} ${names.join(' < ')}`;
  });
}

async function report(): Promise<void> {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  const facts = {
    file: process.argv[1],
    processorSeconds: [userCPUTime / 1e6, systemCPUTime / 1e6],
    memory: process.memoryUsage(),
    resources: process.getActiveResourcesInfo(),
    profile: await profile(),
  };
  process.stderr.write(
    `this file has not ended yet: ${inspect(facts, { depth: 4, maxArrayLength: 60, breakLength: 160 })}\n`,
  );
}

if (process.env['NODE_TEST_CONTEXT'] !== undefined) setTimeout(() => void report(), AFTER_MS).unref();
