// The image of a router that the examples use, made by their own script.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { TestEngine } from './docker-engine.ts';

export const FRR = 'labwire-frr:latest';

/** For `skip` of a test: why the image cannot be made, or false. */
export const noFrr = ['/usr/lib/frr/zebra', '/usr/lib/frr/ospfd', '/usr/bin/vtysh'].every((path) => existsSync(path))
  ? false
  : 'frr is not installed';

export function importFrr({ socketPath }: TestEngine): void {
  const script = join(import.meta.dirname, '../../docs/examples/ospf-triangle/make-image');
  const environment = { ...process.env, DOCKER_HOST: `unix://${socketPath}` };
  execFileSync(script, [FRR], { env: environment, stdio: ['ignore', 'ignore', 'inherit'] });
}
