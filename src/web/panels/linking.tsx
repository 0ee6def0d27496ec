// Making a link: the first node and its port, then the second.
import type { Lab } from '../model/lab.ts';
import { freePorts } from '../model/ports.ts';
import type { LinkEnd } from '../model/types.ts';
import { WORDS } from '../words.ts';

interface LinkingProps {
  lab: Lab;
  /** The end that is chosen already, or that it is being chosen. */
  first: LinkEnd | 'first';
  /** The node that is selected. */
  chosen: string | undefined;
  choose: (end: LinkEnd) => void;
  cancel: () => void;
}

export function Linking({ lab, first, chosen, choose, cancel }: LinkingProps) {
  const isTaken = first !== 'first' && first.node_id === chosen;
  const node = chosen === undefined || isTaken ? undefined : lab.nodes.get(chosen);
  const free = node ? freePorts(lab, node) : [];
  return (
    <fieldset class="linking" aria-label={WORDS.lab.addLink}>
      <p>{first === 'first' ? WORDS.linking.first : WORDS.linking.second}</p>
      {node && (
        <p>
          {node.name} {free.length === 0 && WORDS.linking.noFreePort}
          {free.map((port) => (
            <button
              type="button"
              key={`${port.adapter_number}/${port.port_number}`}
              onClick={() =>
                choose({ node_id: node.node_id, adapter_number: port.adapter_number, port_number: port.port_number })
              }
            >
              {port.short_name || port.name}
            </button>
          ))}
        </p>
      )}
      <button type="button" onClick={cancel}>
        {WORDS.common.cancel}
      </button>
    </fieldset>
  );
}
