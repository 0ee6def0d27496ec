// The UDP ports of one running PC.
import type { PortPool } from '../../ports/pool.ts';
import { relayPort } from './command.ts';

/**
 * Reserves a port for the program and one for its cable, and keeps the relay port of old versions free. All are
 * released with `resources`.
 * @throws Failure `conflict` if no port is free
 */
export async function reserveUdpPorts(
  udp: PortPool,
  owner: string,
  version: string,
  resources: AsyncDisposableStack,
): Promise<{ pcPort: number; cablePort: number; all: number[] }> {
  const release = (port: number, stack: AsyncDisposableStack): void => stack.defer(() => udp.release(owner, port));
  await using passedOver = new AsyncDisposableStack();
  for (;;) {
    await using reserved = new AsyncDisposableStack();
    const pcPort = await udp.reserve(owner);
    release(pcPort, reserved);
    const relay = relayPort(version, pcPort);
    const free = relay === undefined || (await udp.claim(owner, relay));
    (free ? resources : passedOver).use(reserved.move());
    if (!free) continue;
    if (relay !== undefined) release(relay, resources);
    const cablePort = await udp.reserve(owner);
    release(cablePort, resources);
    return { pcPort, cablePort, all: [pcPort, ...(relay === undefined ? [] : [relay]), cablePort] };
  }
}
