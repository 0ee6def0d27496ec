// The services that the parts of a compute share.

import type { ComputeEvents } from '../api/events.ts';
import type { NodeType } from '../api/vocabulary.ts';
import type { Config } from '../config/schema.ts';
import type { EventBus } from '../events/bus.ts';
import type { Operations } from '../events/operations.ts';
import type { Fabric } from '../fabric/fabric.ts';
import type { Counters } from '../host/metrics.ts';
import type { NodeNetwork } from '../host/network/node-network.ts';
import type { VxlanLinks } from '../host/network/vxlan-links.ts';
import type { SupervisorClient } from '../supervisor/client.ts';
import type { Images } from './images/images.ts';
import type { NatNetwork } from './nat-network/network.ts';
import type { SurvivingPrograms } from './nodes/lifecycle/surviving-programs.ts';
import type { SwitchedOn } from './nodes/lifecycle/switched-on.ts';
import type { Captures } from './nodes/ports/captures.ts';
import type { Ports } from './ports/ports.ts';
import type { OutsideAccess } from './uplinks/outside-access.ts';

/** Carries frames of links to other hosts of the cluster. */
export interface FrameRelay {
  /** The UDP port on the loopback address to which the fabric's port `port` sends frames for the far end. */
  open(port: number, far: { host: string; port: number }): Promise<number>;
  close(port: number): void;
  /** By `result`. */
  readonly counters: Counters;
}

export interface Services {
  readonly config: Config;
  readonly fabric: Fabric;
  readonly ports: Ports;
  readonly images: Images;
  readonly captures: Captures;
  /** Holds the nodes' programs, also while this process is not running. */
  readonly supervisor: SupervisorClient;
  /** Programs left running by the previous run of this process. */
  readonly survivingPrograms: SurvivingPrograms;
  /** Nodes that are on without a supervised program, now or when the previous run of this process ended. */
  readonly switchedOn: SwitchedOn;
  /** Has the nodes' interfaces. */
  readonly nodeNetwork: NodeNetwork;
  /** Interfaces of links to other hosts. */
  readonly vxlanLinks: VxlanLinks;
  /** Shared by all NAT nodes if the host has no bridge for them. */
  readonly natNetwork: NatNetwork;
  /** Of clouds and NATs. */
  readonly outsideAccess: OutsideAccess;
  /** Undefined unless this host takes part in a cluster. */
  frameRelay?: FrameRelay;
  readonly events: EventBus<ComputeEvents>;
  /** Long work that clients can watch and cancel. */
  readonly operations: Operations;
  /** Whether several people with their own accounts share this host. */
  readonly isShared: () => Promise<boolean>;
  /** Marks the processes of this daemon, so that it finds them again. */
  readonly instance: string;
  /** What the nodes of a kind share, by kind: the result of `NodeKind.host`. */
  readonly kindHosts: ReadonlyMap<NodeType, unknown>;
  /** Projects of this host, open or not, and their directories. */
  readonly otherProjects: () => Promise<readonly { id: string; path: string }[]>;
}
