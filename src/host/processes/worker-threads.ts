// Starts worker threads from scripts in the executable or, run from source, from files next to their callers.
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
  // Without execArgv a worker inherits process options that are invalid for it, such as --input-type.
  const options = { name, workerData, resourceLimits, execArgv: [] };
  const packed = isPackaged() ? embedded('scripts/starter.cjs') : undefined;
  if (packed !== undefined) return new Worker(packed.toString(), { ...options, eval: true });
  // Run from source, the thread strips types with a WebAssembly module that it shares with others. When V8 replaces the
  // module's entry points by faster ones while several threads use them, Node 24 sometimes crashes (SIGSEGV in
  // WasmEngine::FreeDeadCode). This option prevents the replacement.
  setFlagsFromString('--wasm-wrapper-tiering-budget=1000000000');
  return new Worker(source, options);
}
