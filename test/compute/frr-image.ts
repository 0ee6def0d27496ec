// The image of a router that the examples use, made by their own script, and what such a router starts.
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

/** Starts a router that speaks OSPF, with these addresses, eth0 first. */
export function routerCommand(id: string, addresses: readonly string[]): string {
  const interfaces = addresses.flatMap((address, number) => [
    `interface eth${number}`,
    ` ip address ${address}`,
    ' ip ospf hello-interval 1',
    ' ip ospf dead-interval 4',
    'exit',
  ]);
  const lines = [
    ...['interface lo', ` ip address ${id}/32`, 'exit', ...interfaces],
    ...['router ospf', ` ospf router-id ${id}`, ' network 10.0.0.0/8 area 0', ' timers throttle spf 10 50 500', 'exit'],
  ];
  const config = lines.join('\\n');
  const start = `printf '${config}\\n' >/etc/frr/zebra.conf; cp /etc/frr/zebra.conf /etc/frr/ospfd.conf; chown -R frr /etc/frr /var/run/frr /var/tmp/frr;
    echo 1 >/proc/sys/net/ipv4/ip_forward; /usr/lib/frr/zebra -d -f /etc/frr/zebra.conf; /usr/lib/frr/ospfd -d -f /etc/frr/ospfd.conf; exec /bin/sh`;
  return `/bin/sh -c "${start}"`;
}
