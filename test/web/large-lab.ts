// A lab of 1,000 nodes and as many links, or of more, for a daemon with `MANY_PORTS`, so that all can be started: PCs in groups of four around hubs, the hubs in a ring.
import type { Daemon } from '../system/daemon.ts';
import { Lab } from '../system/lab.ts';

const HUBS = 200;
const PCS_AT_A_HUB = 4;
export const NODES = HUBS * (1 + PCS_AT_A_HUB);
export const LINKS = NODES;

/** @param count of hubs, each with four PCs */
export async function makeLargeLab(daemon: Daemon, count = HUBS): Promise<Lab> {
  const lab = await Lab.create(daemon, `Large ${count}`);
  const create = (members: object): Promise<{ node_id: string }> =>
    daemon.post(`${lab.path}/nodes`, { compute_id: 'local', ...members });
  const join = (one: { node_id: string }, port: number, other: { node_id: string }, otherPort: number) =>
    daemon.post(`${lab.path}/links`, {
      nodes: [
        { node_id: one.node_id, adapter_number: 0, port_number: port },
        { node_id: other.node_id, adapter_number: 0, port_number: otherPort },
      ],
    });
  const hubs: { node_id: string }[] = [];
  const columns = Math.round(Math.sqrt(2 * count));
  for (let at = 0; at < count; at += 1) {
    const [x, y] = [(at % columns) * 320, Math.floor(at / columns) * 320];
    const hub = await create({ name: `Hub${at}`, node_type: 'ethernet_hub', x, y });
    hubs.push(hub);
    const made = await Promise.all(
      Array.from({ length: PCS_AT_A_HUB }, (_, index) =>
        create({
          name: `PC${at * PCS_AT_A_HUB + index}`,
          node_type: 'vpcs',
          x: x + (index % 2 === 0 ? -90 : 90),
          y: y + (index < 2 ? -100 : 100),
        }),
      ),
    );
    await Promise.all(made.map((pc, index) => join(pc, 0, hub, index)));
  }
  for (let at = 0; at < count; at += 1) await join(hubs[at]!, 6, hubs[(at + 1) % count]!, 7);
  return lab;
}
