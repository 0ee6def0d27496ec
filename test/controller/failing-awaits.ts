// Makes what the server waits for fail: requests to computes, the database, ports, the fabric, files. Every place in the code once, and
// never more than one in a run. Whatever is not within `Failing.run` goes on undisturbed, in the same process, at the same time.
import { AsyncLocalStorage } from 'node:async_hooks';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { Engine } from '../../src/compute/emulators/docker/engine.ts';
import { Hypervisor } from '../../src/compute/emulators/dynamips/hypervisor.ts';
import { Qmp } from '../../src/compute/emulators/qemu/qmp.ts';
import { PortPool } from '../../src/compute/ports/pool.ts';
import { RemoteTransport } from '../../src/controller/computes/remote.ts';
import { ComputeUnreachable } from '../../src/controller/computes/transport.ts';
import { takesAway } from '../../src/fabric/blueprint.ts';
import { FabricThread } from '../../src/fabric/fabric-thread.ts';
import type { Verb } from '../../src/fabric/protocol.ts';
import { Failure } from '../../src/failures.ts';
import { App, type RequestOptions } from '../../src/http/app/app.ts';
import { Documents } from '../../src/store/documents.ts';
import { Labs } from '../../src/store/labs.ts';
import { Projects } from '../../src/store/projects.ts';
import { RemoteObjects } from '../../src/store/remote-objects.ts';
import { SupervisorClient } from '../../src/supervisor/client.ts';

const SOURCES = join(import.meta.dirname, '../../src/');
const STORE = new Failure('conflict', 'injected: the database does not answer');
const FABRIC = new Failure('internal', 'injected: the fabric does not answer');

/** The failures of one verb. */
export class Failing {
  /** What failed in this run, and where; undefined when everything that can has failed before. */
  now: string | undefined;
  /** The directory or file whose removal failed in this run: it may stay. */
  kept: string | undefined;
  /** How many failures there were. */
  count = 0;
  #running = false;
  readonly #done = new Set<string>();
  readonly #everywhere: Set<string>;

  /** @param failsAgain places of the compute fail again that have failed in other verbs */
  constructor({ failsAgain = false } = {}) {
    this.#everywhere = failsAgain ? this.#done : everywhere;
  }

  /** The first call of a place that has not failed yet fails. */
  async run<T>(task: () => Promise<T>): Promise<T> {
    this.now = undefined;
    this.kept = undefined;
    this.#running = true;
    try {
      return await context.run(this, task);
    } finally {
      this.#running = false;
    }
  }

  /** Whether the call that is being made is to fail. */
  takes(what: string): boolean {
    if (!this.#running || this.now !== undefined) return false;
    const places = placesOf(new Error().stack ?? '');
    if (places.length === 0) return false;
    const seen = `${what} at ${places.join(' < ')}`;
    const key = EVERY ? seen : representative(what, places);
    const done = !EVERY && places.some((place) => place.startsWith('compute/')) ? this.#everywhere : this.#done;
    if (done.has(key)) return false;
    done.add(key);
    this.count += 1;
    this.now = seen;
    return true;
  }
}

/** Every way to every place: LABWIRE_FAULTS=full. Otherwise one of those that whoever called cannot tell from each other. */
const EVERY = process.env['LABWIRE_FAULTS'] === 'full';
const READING = /^(open )?file[ .](access|lstat|open|readdir|readFile|readlink|realpath|stat)$/;

/** Places of the compute that have failed in any verb: to the controller they are refusals, of which every request has had one. */
const everywhere = new Set<string>();

/** What a room below does to read a file is one thing to its callers. */
function representative(what: string, places: readonly string[]): string {
  const [place = '', ...callers] = places.filter((one) => !/^(host|store|http|fabric)\//.test(one));
  const kind = READING.test(what) ? 'reading' : `${what} at ${places[0]}`;
  return `${kind} for ${place} < ${callers[0] ?? ''}`;
}

const context = new AsyncLocalStorage<Failing>();

/** The way through the sources, the innermost place first; none for what a library does by itself. */
function placesOf(stack: string): string[] {
  if (/node_modules\/(chokidar|readdirp)/.test(stack)) return [];
  return stack
    .split('\n')
    .filter((line) => line.includes(SOURCES))
    .map((line) => line.slice(line.indexOf(SOURCES) + SOURCES.length).replace(/:\d+\)?$/, ''));
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the method takes and answers
type AnyMethod = (this: any, ...values: any[]) => any;

function wrap(holder: object, name: string, around: (original: AnyMethod) => AnyMethod): void {
  const methods = holder as Record<string, AnyMethod>;
  methods[name] = around(methods[name]!);
}

function failBefore(holder: object, names: readonly string[], what: string, failure: () => Error): void {
  for (const name of names) {
    wrap(
      holder,
      name,
      (original) =>
        function (...values) {
          if (context.getStore()?.takes(`${what}.${name}`)) return Promise.reject(failure());
          return original.apply(this, values);
        },
    );
  }
}

/** A compute may refuse, may not be there, and may do what it is asked without anybody hearing of it. */
function failRequests(holder: object, isRequest: (target: string) => boolean): void {
  wrap(
    holder,
    'request',
    (original) =>
      async function (target: string, options: RequestOptions = {}) {
        const failing = context.getStore();
        if (!failing || !isRequest(target)) return original.call(this, target, options);
        const asked = `${options.method ?? 'GET'} ${target
          .split('/')
          .at(-1)
          ?.replace(/^[0-9a-f-]{36}$/, 'it')}`;
        if (failing.takes(`refused ${asked}`))
          return Response.json({ message: 'injected', status: 409 }, { status: 409 });
        const lost = failing.takes(`lost answer of ${asked}`);
        const answer = await original.call(this, target, options);
        if (lost) throw new ComputeUnreachable('injected: the answer is lost');
        return answer;
      },
  );
}

const FILES = [
  ...['access', 'chmod', 'copyFile', 'link', 'lstat', 'mkdir', 'mkdtemp', 'open', 'readdir', 'readFile', 'readlink'],
  ...['realpath', 'rename', 'stat', 'symlink', 'utimes', 'writeFile'],
];
const REMOVALS = ['rm', 'rmdir', 'unlink'];

/** As the system says it: of a call that fails for a reason that nobody has foreseen. */
function systemError(call: string): Error {
  return Object.assign(new Error(`EIO: injected, ${call}`), { code: 'EIO', syscall: call });
}

async function failFiles(): Promise<void> {
  const handle = await fs.promises.open('/');
  failBefore(Object.getPrototypeOf(handle), ['readFile', 'stat', 'sync', 'utimes', 'writeFile'], 'open file', () =>
    systemError('write'),
  );
  await handle.close();
  for (const name of [...FILES, ...REMOVALS]) {
    wrap(
      fs.promises,
      name,
      (original) =>
        function (...values) {
          const failing = context.getStore();
          if (!failing?.takes(`file ${name}`)) return original.apply(this, values);
          if (REMOVALS.includes(name)) failing.kept = String(values[0]);
          return Promise.reject(systemError(name));
        },
    );
  }
  syncBuiltinESMExports();
}

/** The same of programs that nodes run: the Engine, the supervisor, emulators. What ends something does not fail. */
export function failPrograms(): void {
  const refused = (): Error => new Failure('conflict', 'injected: the program refuses');
  wrap(
    Engine.prototype,
    'stream',
    (original) =>
      function (method: string, path: string, ...values: unknown[]) {
        const what = `Engine ${method} ${path.replace(/\?.*|[0-9a-f-]{36,}/g, '')}`;
        if (method !== 'DELETE' && context.getStore()?.takes(what)) return Promise.reject(refused());
        return original.call(this, method, path, ...values);
      },
  );
  failBefore(SupervisorClient.prototype, ['start'], 'supervisor', refused);
  failBefore(Hypervisor.prototype, ['run'], 'Dynamips', refused);
  failBefore(Qmp.prototype, ['run'], 'QMP', refused);
}

/** The fabric's threads, for whoever counts what is on them. */
export const threads = new Set<FabricThread>();

/** Prepares this process. */
export async function failAwaits(): Promise<void> {
  failBefore(
    Labs.prototype,
    ['begin', 'apply', 'load', 'texts', 'state', 'recordClosing', 'recordComing', 'recordWritten', 'end'],
    'labs',
    () => STORE,
  );
  failBefore(Projects.prototype, ['put', 'delete', 'get', 'list'], 'projects', () => STORE);
  failBefore(RemoteObjects.prototype, ['note', 'settle', 'list'], 'notes of computes', () => STORE);
  failBefore(Documents.prototype, ['put', 'delete', 'change', 'list'], 'documents', () => STORE);
  failBefore(PortPool.prototype, ['reserve', 'claim'], 'ports', () => systemError('bind'));
  failRequests(App.prototype, (target) => /^\/v2\/compute\//.test(target));
  failRequests(RemoteTransport.prototype, () => true);
  wrap(
    FabricThread.prototype,
    'request',
    (original) =>
      function (verb: Verb, body: object) {
        threads.add(this);
        // A thread that is gone has what it was to give up given up.
        if (!takesAway(verb) && verb !== 'tellDevice' && context.getStore()?.takes(`fabric ${verb}`))
          return Promise.reject(FABRIC);
        return original.call(this, verb, body);
      },
  );
  await failFiles();
}
