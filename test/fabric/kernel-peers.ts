// Containers of the tests of kernel links: namespaces at pairs of interfaces.

import type { TestContext } from 'node:test';
import { Fabric, type FabricPort } from '../../src/fabric/fabric.ts';
import { keepFromHost } from '../../src/host/network/interface-programs.ts';
import { changeLink, getLink } from '../../src/host/network/kernel-interfaces.ts';
import { ip, Namespace, removeAfter, uniqueName } from './namespaces.ts';
import { ends, until } from './peers.ts';

/** A packet filter that matches no frame: the link is not plain. */
export const NOTHING = { packetFilters: [Uint32Array.of(0x06, 0)] };

/** A fabric that is stopped when the test ends. */
export async function startFabric(t: TestContext, kernelLinks: 'automatic' | 'off' = 'automatic'): Promise<Fabric> {
  const fabric = new Fabric({ kernelLinks, threads: 1 });
  await fabric.start();
  t.after(() => fabric.stop());
  return fabric;
}

export interface Container {
  namespace: Namespace;
  /** The end of its pair on the host. */
  link: string;
  port: FabricPort;
}

/**
 * A pair of interfaces, one of which is a port of the fabric, as Docker nodes have; the other is down.
 * @param before called before the fabric gets its end
 */
export async function pair(
  t: TestContext,
  fabric: Fabric,
  before?: (link: string) => void,
): Promise<{ link: string; inside: string; port: FabricPort }> {
  const [link, inside] = [uniqueName(), uniqueName()];
  await ip('link', 'add', link, 'type', 'veth', 'peer', 'name', inside);
  removeAfter(t, link);
  keepFromHost(link);
  before?.(link);
  const port = await fabric.createPort({ kind: 'packet', interface: link, kernel: true });
  changeLink(link, { up: true });
  return { link, inside, port };
}

/** Waits until the host's end of a pair sends: the kernel drops frames for a moment after the other end has come up. */
export async function sends(link: string): Promise<void> {
  await until(async () => getLink(link).running);
}

/** A namespace with one end of a pair, whose other end is a port of the fabric. */
export async function container(
  t: TestContext,
  fabric: Fabric,
  address: string,
  before?: (link: string) => void,
): Promise<Container> {
  const namespace = await Namespace.create(t);
  // Without frames of its own.
  await namespace.run('sysctl', '-qw', 'net.ipv6.conf.default.disable_ipv6=1');
  const { link, inside, port } = await pair(t, fabric, before);
  await namespace.adopt(inside, address);
  await sends(link);
  return { namespace, link, port };
}

/** Two containers at the ends of a cable. */
export async function linked(t: TestContext, fabric: Fabric): Promise<[Container, Container]> {
  const a = await container(t, fabric, '10.99.0.1/24');
  const b = await container(t, fabric, '10.99.0.2/24');
  const [one, two] = await ends();
  await a.port.connect(one);
  await b.port.connect(two);
  return [a, b];
}

export async function pathOf({ port }: Container) {
  return (await port.statistics()).path;
}

export const KERNEL = { by: 'kernel', reason: null };
