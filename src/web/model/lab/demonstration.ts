// Builds the demonstration lab through the API.
import { freeName, HUB, linkToHub, PC1, PC2 } from '../../../layout/demonstration.ts';
import { api } from '../server/api.ts';
import type { NodeObject, ProjectObject } from '../server/types.ts';

/** Builds and starts it; returns its project_id. Rolled back if a step fails. @throws Refusal */
export async function buildDemonstration(): Promise<string> {
  const taken = (await api.get<ProjectObject[]>('/projects')).map(({ name }) => name);
  const { project_id: id } = await api.post<ProjectObject>('/projects', { name: freeName(taken), auto_close: false });
  const path = `/projects/${id}`;
  try {
    const node = async (body: object): Promise<string> => (await api.post<NodeObject>(`${path}/nodes`, body)).node_id;
    const pc = (body: typeof PC1, address: string): Promise<string> =>
      node({ ...body, properties: { startup_script: `set pcname ${body.name}\nip ${address}/24\n` } });
    const one = await pc(PC1, '10.0.0.1');
    const two = await pc(PC2, '10.0.0.2');
    const hub = await node(HUB);
    for (const [port, pcId] of [one, two].entries()) await api.post(`${path}/links`, linkToHub(pcId, hub, port));
    await api.post(`${path}/nodes/start`);
  } catch (error) {
    await api.delete(path).catch(() => {});
    throw error;
  }
  return id;
}
