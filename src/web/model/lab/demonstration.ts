// "Two PCs on a hub", built by the API: a lab to begin with.
import { api } from '../server/api.ts';
import type { NodeObject, ProjectObject } from '../server/types.ts';

const NAME = 'Two PCs on a hub';

/** The name, or, if others have it, the first free one of "… 2", "… 3" and so on. */
function freeName(taken: readonly string[]): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? NAME : `${NAME} ${number}`;
    if (!taken.includes(name)) return name;
  }
}

/** Builds and starts it; answers its project_id. What was built is removed again if a step fails. @throws Refusal */
export async function buildDemonstration(): Promise<string> {
  const taken = (await api.get<ProjectObject[]>('/projects')).map(({ name }) => name);
  const { project_id: id } = await api.post<ProjectObject>('/projects', { name: freeName(taken), auto_close: false });
  const path = `/projects/${id}`;
  try {
    const node = async (more: object): Promise<string> =>
      (await api.post<NodeObject>(`${path}/nodes`, { compute_id: 'local', ...more })).node_id;
    const pc = (name: string, x: number, address: string): Promise<string> =>
      node({
        ...{ name, node_type: 'vpcs', symbol: ':/symbols/vpcs_guest.svg', x, y: -30 },
        properties: { startup_script: `set pcname ${name}\nip ${address}/24\n` },
      });
    const one = await pc('PC1', -250, '10.0.0.1');
    const two = await pc('PC2', 185, '10.0.0.2');
    const hub = await node({ name: 'Hub', node_type: 'ethernet_hub', symbol: ':/symbols/hub.svg', x: -36, y: -16 });
    for (const [port, pcId] of [one, two].entries()) {
      await api.post(`${path}/links`, {
        nodes: [
          { node_id: pcId, adapter_number: 0, port_number: 0 },
          { node_id: hub, adapter_number: 0, port_number: port },
        ],
      });
    }
    await api.post(`${path}/nodes/start`);
  } catch (error) {
    await api.delete(path).catch(() => {});
    throw error;
  }
  return id;
}
