// What a compute's parts are given to work with.

import type { ComputeEvents } from '../api/events.ts';
import type { Config } from '../config/schema.ts';
import type { EventBus } from '../events/bus.ts';
import type { Operations } from '../events/operations.ts';
import type { Fabric } from '../fabric/fabric.ts';
import type { SupervisorClient } from '../supervisor/client.ts';
import type { Images } from './images/images.ts';
import type { NatNetwork } from './nat-network/network.ts';
import type { SurvivingPrograms } from './nodes/lifecycle/surviving-programs.ts';
import type { SwitchedOn } from './nodes/lifecycle/switched-on.ts';
import type { Captures } from './nodes/ports/captures.ts';
import type { Ports } from './ports/ports.ts';

export interface Services {
  readonly config: Config;
  readonly fabric: Fabric;
  readonly ports: Ports;
  readonly images: Images;
  readonly captures: Captures;
  /** Keeps the nodes' programs, also while this process is not there. */
  readonly supervisor: SupervisorClient;
  /** Those that a former life of this process has left there. */
  readonly survivingPrograms: SurvivingPrograms;
  /** Nodes without a program of the supervisor's that are on, or were when a former life of this process ended. */
  readonly switchedOn: SwitchedOn;
  /** Of all NAT nodes, where the host has no bridge for them. */
  readonly natNetwork: NatNetwork;
  readonly events: EventBus<ComputeEvents>;
  /** Long work that clients can watch and cancel. */
  readonly operations: Operations;
  /** Whether several people with accounts of their own share this host. */
  readonly isShared: () => Promise<boolean>;
  /** Marks the processes of this daemon, so that it knows them again. */
  readonly instance: string;
  /** Projects of this host that need not be open here, and their directories. */
  readonly otherProjects: () => Promise<readonly { id: string; path: string }[]>;
}
