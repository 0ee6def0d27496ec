// The computes that the controller knows. The one of this process, `local`, is always there.
import { hostname } from 'node:os';
import type { Config } from '../../config/schema.ts';
import { Failure, messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import type { Announcer } from '../events.ts';
import { Compute, type ComputeMessage } from './compute.ts';
import type { ComputeTransport } from './transport.ts';

export class Computes {
  private readonly computes = new Map<string, Compute>();
  private readonly config: Config;
  private readonly announcer: Announcer;
  private readonly announced: (message: ComputeMessage) => void;

  /** `announced` receives what computes tell besides pings. */
  constructor(options: { config: Config; announcer: Announcer; announced: (message: ComputeMessage) => void }) {
    this.config = options.config;
    this.announcer = options.announcer;
    this.announced = options.announced;
  }

  /** Registers the compute of this process and connects to it. */
  async start(local: ComputeTransport, port: number): Promise<void> {
    const { host, protocol, user, version } = this.config.Server;
    const compute = new Compute(
      {
        compute_id: 'local',
        name: hostname() === 'gns3vm' ? 'Main server' : hostname(),
        protocol,
        host: host === '0.0.0.0' ? '127.0.0.1' : host,
        port,
        user: user || null,
      },
      {
        transport: local,
        version,
        consoleHost: host,
        listener: {
          changed: (changed) => this.announcer.controller.emit('compute.updated', changed.json()),
          announced: (_compute, message) => this.announced(message),
        },
      },
    );
    this.computes.set(compute.id, compute);
    await compute.connect();
  }

  stop(): void {
    for (const compute of this.computes.values()) compute.disconnect();
  }

  /** In the order of registration, `local` first. */
  list(): Compute[] {
    return [...this.computes.values()];
  }

  get(id: string): Compute {
    const compute = this.computes.get(id);
    if (!compute) throw new Failure('not-found', `compute_id: there is no compute "${id}".`);
    return compute;
  }

  /** Load of every compute; one that refuses is left out. */
  async statistics(): Promise<object[]> {
    const entries = await Promise.all(
      this.list().map(async (compute) => {
        try {
          const statistics = await compute.get('/statistics');
          return { compute_id: compute.id, compute_name: compute.description.name, statistics };
        } catch (error) {
          log.warn('a compute does not tell its load', { compute: compute.id, error: messageOf(error) });
          return undefined;
        }
      }),
    );
    return entries.filter((entry) => entry !== undefined);
  }
}
