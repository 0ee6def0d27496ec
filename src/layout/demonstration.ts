// The lab that the page's first button and `labwired demo` create, as API objects. Pure.

const NAME = 'Two PCs on a hub';

/** The lab's name, or, if others have it, the first free one of "… 2", "… 3" and so on. */
export function freeName(taken: readonly string[]): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? NAME : `${NAME} ${number}`;
    if (!taken.includes(name)) return name;
  }
}

// The heights are half those of the symbols, so that the PCs and the hub stand in one row.
const node = (name: string, node_type: string, symbol: string, x: number, y: number) => {
  return { name, node_type, compute_id: 'local', symbol: `:/symbols/${symbol}.svg`, x, y };
};

export const PC1 = node('PC1', 'vpcs', 'vpcs_guest', -250, -30);
export const PC2 = node('PC2', 'vpcs', 'vpcs_guest', 185, -30);
export const HUB = node('Hub', 'ethernet_hub', 'hub', -36, -16);

/** A link between a PC and a port of the hub, both by their node_id. */
export function linkToHub(pc: string, hub: string, port: number): object {
  return {
    nodes: [
      { node_id: pc, adapter_number: 0, port_number: 0 },
      { node_id: hub, adapter_number: 0, port_number: port },
    ],
  };
}
