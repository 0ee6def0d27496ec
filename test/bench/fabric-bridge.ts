// The kernel's own bridge as a yardstick: of 16 ports, which know VLANs where the kernel can, each a veth pair whose other end has a network namespace.

import { execFileSync } from 'node:child_process';
import type { PeerAddress } from './fabric-load.ts';

const PORTS = 16;
const VLAN = '10';
const UDP_PORT = 28_300;

export interface Bridge extends Disposable {
  /** Two hosts at the bridge, whose targets are each other. */
  readonly peers: [PeerAddress, PeerAddress];
  /** Whether the bridge looks at VLANs. */
  readonly vlans: boolean;
}

function ip(...words: string[]): void {
  execFileSync('ip', words, { stdio: ['ignore', 'ignore', 'pipe'] });
}

/** Makes a bridge with hosts; without the privilege to do so, answers why not. */
export function makeBridge(): Bridge | string {
  // Within a namespace of its own too: nothing of this host's network is touched.
  const name = (part: string | number): string => `labwire-bench-${process.pid}-${part}`;
  const undo = new DisposableStack();
  let vlans = true;
  try {
    ip('netns', 'add', name('bridge'));
    undo.defer(() => ip('netns', 'del', name('bridge')));
    const inBridge = (...words: string[]): void => ip('-n', name('bridge'), ...words);
    const add = (...words: string[]): void => inBridge('link', 'add', 'bridge', 'type', 'bridge', ...words);
    try {
      add('vlan_filtering', '1', 'vlan_default_pvid', VLAN);
    } catch {
      add(); // not every kernel is made with CONFIG_BRIDGE_VLAN_FILTERING
      vlans = false;
    }
    inBridge('link', 'set', 'bridge', 'up');
    for (let port = 0; port < PORTS; port++) {
      ip('netns', 'add', name(port));
      undo.defer(() => ip('netns', 'del', name(port)));
      inBridge('link', 'add', `port${port}`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name(port));
      inBridge('link', 'set', `port${port}`, 'master', 'bridge', 'up');
      ip('-n', name(port), 'address', 'add', `192.0.2.${port + 1}/24`, 'dev', 'eth0');
      ip('-n', name(port), 'link', 'set', 'eth0', 'up');
    }
  } catch (error) {
    undo.dispose();
    const { stderr } = error as { stderr?: Buffer };
    return stderr?.toString().trim() || 'ip (iproute2) is not installed';
  }
  const peer = (port: number): PeerAddress => ({
    host: `192.0.2.${port + 1}`,
    port: UDP_PORT,
    namespace: name(port),
  });
  return { peers: [peer(0), peer(1)], vlans, [Symbol.dispose]: () => undo.dispose() };
}
