// Machines and containers in a lab of a daemon under test.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { BUSYBOX, type TestEngine, tryEngine } from '../compute/docker-engine.ts';
import { copyGuest } from '../guest/guest.ts';
import type { Daemon, DaemonOptions } from './daemon.ts';
import type { Lab, NodeObject } from './lab.ts';

/** The smallest machine that starts, without a guest and with an emulated processor: it rests in its BIOS. */
export const MACHINE = { platform: 'x86_64', ram: 16, options: '-machine accel=tcg', process_priority: 'normal' };

export function machine(lab: Lab, name: string, properties: object = {}, more: object = {}): Promise<NodeObject> {
  const body = { name, node_type: 'qemu', compute_id: 'local', properties: { ...MACHINE, ...properties }, ...more };
  return lab.daemon.post(`${lab.path}/nodes`, body);
}

/** A container with a busybox; its first process is a shell unless the properties say otherwise. */
export function container(lab: Lab, name: string, properties: object = {}): Promise<NodeObject> {
  const body = {
    ...{ name, node_type: 'docker', compute_id: 'local', console_type: 'telnet' },
    properties: { image: BUSYBOX, ...properties },
  };
  return lab.daemon.post(`${lab.path}/nodes`, body);
}

/** Puts the guest into the daemon's folder of machines' images; answers that folder. */
export async function guestImages(daemon: Daemon): Promise<string> {
  const folder = join(daemon.state, 'images/QEMU');
  mkdirSync(folder, { recursive: true });
  await copyGuest(folder);
  return folder;
}

/** A Docker Engine that ends with the test, or why there is none. */
export async function engineFor(t: TestContext): Promise<TestEngine | string> {
  const engine = await tryEngine();
  if (typeof engine !== 'string') t.after(() => engine[Symbol.asyncDispose]());
  return engine;
}

/** What a daemon has to know of the Engine. */
export function withEngine(engine: TestEngine | string): DaemonOptions {
  return typeof engine === 'string' ? {} : { environment: { LABWIRE_DOCKER_SOCKET_PATH: engine.socketPath } };
}
