// Debian's NATS server for tests of the cluster.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { jetstreamManager } from '@nats-io/jetstream';
import { connectMember } from '../../src/cluster/connection.ts';
import type { ClusterFiles } from '../../src/cluster/layout.ts';
import type { Cleanup } from '../cleanup.ts';
import { eventually } from '../system/daemon.ts';

/** Resolves when a program has said this on its standard error; fails with all that it has said if it ends. */
export async function ready(child: ChildProcess, name: string, text: string): Promise<void> {
  let said = '';
  child.stderr!.setEncoding('utf8').on('data', (piece: string) => {
    said += piece;
  });
  await eventually(
    name,
    () => said,
    () => said.includes(text) || child.exitCode !== null,
  );
  assert.equal(child.exitCode, null, said);
}

export class Nats {
  readonly #command: readonly string[];
  #child: ChildProcess | undefined;

  /** @param inside words before the program's, such as those of a network namespace */
  constructor(t: Cleanup, configuration: string, inside: readonly string[] = []) {
    this.#command = [...inside, 'nats-server', '--config', configuration];
    t.after(() => this.stop());
  }

  get pid(): number {
    return this.#child!.pid!;
  }

  /** Resolves when it serves. */
  async start(): Promise<this> {
    const [program, ...words] = this.#command;
    const child = spawn(program!, words, { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child = child;
    await ready(child, 'NATS', 'Server is ready');
    return this;
  }

  /** Resolves when none of its threads runs any more; SIGCONT lets it go on. */
  async pause(): Promise<void> {
    const tasks = `/proc/${this.pid}/task`;
    const stateOf = (task: string): string => readFileSync(`${tasks}/${task}/stat`, 'latin1').split(') ')[1] ?? '';
    process.kill(this.pid, 'SIGSTOP');
    await eventually('NATS to stop', () => readdirSync(tasks).every((task) => stateOf(task).startsWith('T')));
  }

  async stop(): Promise<void> {
    if (!this.#child || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }
}

/** Resolves when three servers have each stream of the cluster, of which there are so many: before, the loss of one may end a stream. */
export async function copied(files: ClusterFiles, streams: number): Promise<void> {
  const nats = await connectMember(files, await files.member());
  try {
    const manager = await jetstreamManager(nats);
    const copies = async (): Promise<number[]> => {
      const found: number[] = [];
      for await (const { cluster } of manager.streams.list())
        found.push((cluster?.replicas ?? []).filter(({ current }) => current).length);
      return found;
    };
    await eventually(
      'three copies of each stream',
      () => copies().catch(() => []),
      (counts) => counts.length === streams && counts.every((count) => count === 2),
    );
  } finally {
    await nats.close();
  }
}
