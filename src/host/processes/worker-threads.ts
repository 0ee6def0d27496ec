// Worker threads: their scripts come out of the executable, or, run from source, from beside their callers.
import { setFlagsFromString } from 'node:v8';
import { type ResourceLimits, Worker } from 'node:worker_threads';
import { embedded, isPackaged } from '../files/assets.ts';

export interface WorkerSettings {
  /** The script when the sources run unpacked. */
  source: URL;
  workerData?: unknown;
  resourceLimits: ResourceLimits;
}

/** Starts the worker that build.mjs packs as `scripts/<name>.cjs`; src/start/starter.ts finds it by the thread's name. */
export function startWorker(name: string, { source, workerData, resourceLimits }: WorkerSettings): Worker {
  // Without execArgv a worker takes over options of the process that make no sense for it, such as --input-type.
  const options = { name, workerData, resourceLimits, execArgv: [] };
  const packed = isPackaged() ? embedded('scripts/starter.cjs') : undefined;
  if (packed !== undefined) return new Worker(packed.toString(), { ...options, eval: true });
  // From source the thread strips types by a WebAssembly module that it shares with others. When V8 exchanges the module's entry points
  // for faster ones while several threads use them, Node 24 crashes now and then (SIGSEGV in WasmEngine::FreeDeadCode): it is not to.
  setFlagsFromString('--wasm-wrapper-tiering-budget=1000000000');
  return new Worker(source, options);
}
