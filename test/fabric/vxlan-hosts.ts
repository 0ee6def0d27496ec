// Two network namespaces as hosts with a server each, and a link between a container of each.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Cleanup } from '../cleanup.ts';
import { Namespace } from './namespaces.ts';

const SERVER = fileURLToPath(new URL('vxlan-host.ts', import.meta.url));

export interface JoinedHosts {
  near: Namespace;
  far: Namespace;
  /** Processes of the servers. */
  servers: number[];
}

export interface Joint {
  /** `fabric`: by VXLAN, but through the fabrics of both hosts. */
  way: 'vxlan' | 'fabric' | 'udp';
  /** Of the cable between the hosts. */
  mtu: number;
}

const ADDRESSES = ['10.97.0.1', '10.97.0.2'] as const;

/** @param links names of the containers' interfaces, which are made in this network namespace */
export async function joinHosts(
  t: Cleanup,
  links: readonly [string, string],
  { way, mtu }: Joint,
): Promise<JoinedHosts> {
  const [near, far] = [await Namespace.create(t), await Namespace.create(t)];
  await near.ip('link', 'add', 'cable', 'type', 'veth', 'peer', 'name', 'cable', 'netns', far.name);
  for (const [index, host] of [near, far].entries()) {
    await host.ip('address', 'add', `${ADDRESSES[index]}/24`, 'dev', 'cable');
    await host.ip('link', 'set', 'cable', 'mtu', `${mtu}`, 'up');
  }
  const servers = [near, far].map((host, index) => {
    const words = [process.execPath, SERVER, links[index]!, `${process.pid}`, ADDRESSES[1 - index]!, way];
    const server = spawn('ip', ['netns', 'exec', host.name, ...words], { stdio: ['pipe', 'pipe', 'inherit'] });
    const ended = once(server, 'exit');
    t.after(async () => {
      server.stdin.end();
      await ended;
    });
    return server;
  });
  for (const { stdout } of servers) await once(stdout, 'data');
  return { near, far, servers: servers.map(({ pid }) => pid!) };
}
