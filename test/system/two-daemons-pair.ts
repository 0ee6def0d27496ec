// A controller and a compute that are two daemons on two hosts, and a lab that reaches across.
import type { TestContext } from 'node:test';
import { type Daemon, ownDaemon } from './daemon.ts';
import { executable } from './executable.ts';
import { Lab, type LinkObject, missing, type NodeObject } from './lab.ts';
import { isAnswered, type } from './pc-typing.ts';
import { noNamespaces, TwoHosts } from './two-daemons-network.ts';

export const skip = missing('ip', 'vpcs') || noNamespaces();
export const CREDENTIALS = { user: 'labwire', password: 'not a secret' };

interface Pair {
  hosts: TwoHosts;
  controller: Daemon;
  compute: Daemon;
}

/**
 * The compute asks for a password and listens on its address; the controller listens on all of its own.
 * @param settings of section `[Server]` of both
 * @param computeFlags for the compute
 */
export async function startPair(t: TestContext, settings = '', computeFlags: string[] = []): Promise<Pair> {
  const hosts = TwoHosts.make(t);
  const { user, password } = CREDENTIALS;
  const compute = ownDaemon(t, {
    program: [...hosts.compute.inside, ...executable()],
    host: hosts.addresses.compute,
    config: `[Server]\nauth = true\nuser = ${user}\npassword = ${password}\n${settings}`,
    flags: computeFlags,
  });
  const controller = ownDaemon(t, {
    program: [...hosts.controller.inside, ...executable()],
    host: hosts.controllerAddress,
    config: `[Server]\n${settings}`,
    flags: ['--host', '0.0.0.0', '--insecure'],
  });
  await Promise.all([compute.start(), controller.start()]);
  return { hosts, controller, compute };
}

export function register({ controller, compute, hosts }: Pair, more: object = {}): Promise<{ connected: boolean }> {
  const { compute: host } = hosts.addresses;
  const body = { compute_id: 'other', name: 'Other', protocol: 'http', host, port: compute.port, ...CREDENTIALS };
  return controller.post('/v2/computes', { ...body, ...more });
}

interface Across {
  lab: Lab;
  here: NodeObject;
  there: NodeObject;
  link: LinkObject;
}

/** A PC on each host, 10.0.0.1 on the controller's, and a link between them; both started. */
export async function labAcross(controller: Daemon): Promise<Across> {
  const lab = await Lab.create(controller, 'Across');
  const script = (last: number): object => ({ properties: { startup_script: `ip 10.0.0.${last}/24\n` } });
  const here = await lab.pc('Here', script(1));
  const there = await lab.pc('There', { compute_id: 'other', ...script(2) });
  const link = await lab.link(here, there);
  await controller.post(`${lab.path}/nodes/start`);
  return { lab, here, there, link };
}

/** Whether the PC on the compute answers now. */
export async function pings(lab: Lab, from: NodeObject): Promise<boolean> {
  return isAnswered(await type(lab, from, 'ping 10.0.0.2 -c 2 -w 500'), '10.0.0.2');
}
