// State shared by the containers of one compute: the Engine, its events, and a limit of concurrent starts.
import { kernelLinksUnavailable } from '../../../host/network/kernel-link-support.ts';
import type { NodeNetwork } from '../../../host/network/node-network.ts';
import { Slots } from '../../../host/values/slots.ts';
import type { Services } from '../../services.ts';
import { INSTANCE_LABEL } from './container.ts';
import { Engine } from './engine.ts';
import { EngineEvents } from './engine-events.ts';
import { Pulls } from './pulls.ts';
import { UnclaimedContainers } from './unclaimed-containers.ts';

/** Containers that start at the same time; a host gains nothing from more. */
const MOST_STARTS = 4;

export interface DockerHost {
  readonly engine: Engine;
  readonly events: EngineEvents;
  readonly starts: Slots;
  readonly pulls: Pulls;
  readonly unclaimed: UnclaimedContainers;
  /** What new containers get as interfaces: pairs if the kernel may forward their frames. */
  readonly interfaces: 'tap' | 'pair';
  /** Where the other ends of such pairs are. */
  readonly nodeNetwork: NodeNetwork;
}

export function dockerHost({ config, instance, nodeNetwork }: Services): DockerHost {
  const engine = new Engine(config.Docker.socket_path);
  return {
    engine,
    events: new EngineEvents(engine, `${INSTANCE_LABEL}=${instance}`),
    starts: new Slots(MOST_STARTS),
    pulls: new Pulls(engine),
    // Asked for by the first container: the answer takes time that a start without containers would lose.
    get interfaces() {
      return config.Server.kernel_links === 'automatic' && kernelLinksUnavailable() === undefined ? 'pair' : 'tap';
    },
    nodeNetwork,
    unclaimed: new UnclaimedContainers(engine, instance),
  };
}
