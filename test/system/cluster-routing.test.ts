// Routers in containers and machines, half of them on a host that is killed: they run elsewhere, and speak OSPF with the others again.
import { test } from 'node:test';
import { tryEngine } from '../compute/docker-engine.ts';
import { FRR, importFrr, noFrr, routerCommand } from '../compute/frr-image.ts';
import { guestSettings, noGuest, type Typist } from '../guest/guest.ts';
import { copiedAgain, joined, noCluster, typistOf } from './cluster-hosts.ts';
import { eventually } from './daemon.ts';
import { Lab, missing, type NodeObject } from './lab.ts';
import { guestImages, machine } from './machines.ts';
import { TwoHosts } from './two-daemons-network.ts';

/** What a busy machine may need (ms) for each step. */
const BUSY_MS = 180_000;
const ROUTERS = 8;
const GUESTS = 4;

test('routers whose host is killed run elsewhere, and all routes are there again', {
  skip: noCluster() || noFrr || missing('qemu-system-x86_64') || noGuest,
}, async (t) => {
  const engine = await tryEngine();
  if (typeof engine === 'string') return t.skip(engine);
  t.after(() => engine[Symbol.asyncDispose]());
  importFrr(engine);
  const settings = `[Cluster]\nfailover_seconds = 2\ncheckpoint_seconds = 1\n[Docker]\nsocket_path = ${engine.socketPath}\n`;
  const { a, b, compute_id } = await joined(t, TwoHosts.make(t), settings);
  await guestImages(a);
  const lab = await Lab.create(a, 'Ring');
  const hostOf = (number: number): string => (number % 4 < 2 ? 'local' : compute_id);
  const routers: NodeObject[] = [];
  // A ring: 10.0.N.0/24 is between router N and the next one, 10.1.N.0/24 behind it, if there is a guest.
  for (let number = 0; number < ROUTERS; number++) {
    const before = (number + ROUTERS - 1) % ROUTERS;
    const addresses = [`10.0.${number}.1/24`, `10.0.${before}.2/24`, `10.1.${number}.1/24`];
    const body = {
      ...{ name: `R${number}`, node_type: 'docker', compute_id: hostOf(number), console_type: 'telnet' },
      properties: { image: FRR, adapters: 3, start_command: routerCommand(`10.9.9.${number + 1}`, addresses) },
    };
    routers.push(await a.post(`${lab.path}/nodes`, body));
  }
  const link = (ends: readonly [NodeObject, number][]): Promise<unknown> =>
    a.post(`${lab.path}/links`, {
      nodes: ends.map(([{ node_id }, adapter_number]) => ({ node_id, adapter_number, port_number: 0 })),
    });
  for (const [number, router] of routers.entries())
    await link([
      [router, 0],
      [routers[(number + 1) % ROUTERS]!, 1],
    ]);
  const guests: NodeObject[] = [];
  for (let number = 0; number < GUESTS; number++) {
    const behind = number * (ROUTERS / GUESTS);
    const settings = { ...guestSettings(`10.1.${behind}.2/24`), adapters: 1 };
    const guest = await machine(lab, `G${number}`, settings, { compute_id: hostOf(number * 2) });
    await link([
      [guest, 0],
      [routers[behind]!, 2],
    ]);
    guests.push(guest);
  }
  const nodes = [...routers, ...guests];
  await Promise.all(nodes.map((node) => lab.start(node)));

  // The server gives each the right that zebra wants, in a container of its own.
  const withRights = (): number => {
    try {
      const form = '{{.HostConfig.CapAdd}} {{.State.Running}}';
      return engine.docker('inspect', '-f', form, ...engine.containers()).match(/SYS_ADMIN.* true/g)?.length ?? 0;
    } catch {
      return 0; // one has just been removed
    }
  };
  await eventually('the rights of zebra', withRights, (count) => count === ROUTERS, BUSY_MS);
  const console = typistOf(t, lab, routers[0]!);
  const routes = async (): Promise<number> =>
    new Set((await console.run('ip route show')).match(/10\.1\.\d+\.0\/24/g)).size;
  await eventually('all networks', routes, (count) => count === GUESTS, BUSY_MS);
  const reaches = (shell: Typist, address: string): Promise<unknown> =>
    eventually(
      `an answer of ${address}`,
      () => shell.run(`ping -c 1 -W 1 ${address}`),
      (text) => text.includes('1 packets received'),
      BUSY_MS,
    );
  /** A router on b, and the guest behind it, from the router. */
  const allReached = async (): Promise<void> => {
    await reaches(console, '10.1.2.1');
    await reaches(typistOf(t, lab, routers[2]!), '10.1.2.2');
  };
  await allReached();
  await copiedAgain(a);

  await b.kill();
  const begin = performance.now();
  const onFirst = async (): Promise<number> =>
    ((await lab.nodes()) as (NodeObject & { compute_id: string })[]).filter(
      ({ compute_id: on, status }) => on === 'local' && status === 'started',
    ).length;
  await eventually('all nodes on a', onFirst, (count) => count === nodes.length, BUSY_MS);
  const moved = performance.now() - begin;
  await eventually('all networks again', routes, (count) => count === GUESTS, BUSY_MS);
  const routed = performance.now() - begin;
  await allReached();
  t.diagnostic(`moved after ${Math.round(moved)} ms, all routes after ${Math.round(routed)} ms`);
});
