// The ports of switches, hubs and clouds as one editable table: `ports_mapping`.
import { useSignal } from '@preact/signals';
import type { HostInterface } from '../../../../api/routes/compute.ts';
import { FormFrame } from '../../../forms/form-view.tsx';
import { ListControl } from '../../../forms/list-control.tsx';
import type { TypedRow } from '../../../forms/values.ts';
import { emptyRow } from '../../../forms/values.ts';
import { storeIn } from '../../../model/browser/signal-handlers.ts';
import { api } from '../../../model/server/api.ts';
import { useLoaded } from '../../../model/server/loaded.ts';
import type { NodeObject } from '../../../model/server/types.ts';
import { WORDS } from '../../../words.ts';
import { Button } from '../../button.tsx';
import { Message } from '../../message.tsx';
import type { TabProps } from '../tabs.tsx';
import { Cable } from './cable.tsx';
import { useNodeForm } from './use-node-form.ts';

const words = WORDS.node;

/** Port numbers are positions in the list; the server renumbers them. */
function numbered(rows: readonly TypedRow[]): readonly TypedRow[] {
  return rows.map((row, index) => ({ ...row, port_number: String(index) }));
}

export function PortsTable({ context, object: node }: TabProps<NodeObject>) {
  const isCloud = node.node_type === 'cloud';
  const { form, problem, again, save } = useNodeForm(context.history, node, (_members, settings) =>
    settings.filter(({ name }) => name === 'ports_mapping').map((field) => ({ ...field, group: '' })),
  );
  const wanted = useSignal('');
  const interfaces = useLoaded(
    async () => (isCloud ? await api.get<HostInterface[]>(`/computes/${node.compute_id}/network/interfaces`) : []),
    [node.compute_id],
  );
  const [field] = form?.fields ?? [];
  if (problem) return <Message text={problem} again={again} />;
  if (!form || !field) return <p>{words.loading}</p>;
  const rows = form.shown(field) as readonly TypedRow[];
  const fresh = (all: readonly TypedRow[]): TypedRow => {
    const taken = new Set(all.map(({ name }) => name));
    const at = Array.from({ length: all.length + 1 }, (_, index) => index).find(
      (index) => !taken.has(`Ethernet${index}`),
    );
    return { ...emptyRow(field), name: `Ethernet${at}`, port_number: String(all.length), ...vlanOf(all) };
  };
  const resize = (count: number): void => {
    const next = rows.slice(0, count);
    while (next.length < count) next.push(fresh(next));
    form.type(field, numbered(next));
  };
  const without = ['port_number'];
  // A switch names its ports by position.
  if (!isCloud) without.push('name');
  // Only tunnels have an outer tag.
  if (!rows.some(({ type }) => type === 'qinq')) without.push('ethertype');
  return (
    <FormFrame
      form={form}
      save={save}
      before={() => form.type(field, numbered(form.shown(field) as readonly TypedRow[]))}
    >
      {!isCloud && (
        <p class="tools">
          <label>
            {words.numberOfPorts}{' '}
            <input
              inputMode="numeric"
              size={3}
              class="short"
              value={wanted.value === '' ? String(rows.length) : wanted.value}
              onInput={storeIn(wanted)}
            />
          </label>
          <Button
            disabled={!/^\d{1,3}$/.test(wanted.value)}
            onClick={() => {
              resize(Number(wanted.value));
              wanted.value = '';
            }}
            text={words.setNumber}
          />
        </p>
      )}
      <ListControl
        form={form}
        field={field}
        rows={rows}
        without={without}
        fresh={fresh}
        {...(!isCloud && { heading: { title: words.port, text: (_row, index) => `Ethernet${index}` } })}
        offers={(column, row) =>
          column.name === 'interface'
            ? (interfaces.value.value ?? [])
                .filter(({ type, special }) => type === row['type'] || (row['type'] === 'ethernet' && !special))
                .map(({ name }) => name)
            : []
        }
        beside={
          isCloud
            ? { title: words.needsTitle, cell: (row) => words.needs[row['type'] ?? ''] ?? '' }
            : {
                title: words.leadsTo,
                cell: (_row, index) => {
                  const port = node.ports.find(({ port_number }) => port_number === index);
                  return port ? <Cable context={context} node={node} port={port} /> : WORDS.nodes.free;
                },
              }
        }
      />
    </FormFrame>
  );
}

/** A new port copies the last one's VLAN. */
function vlanOf(rows: readonly TypedRow[]): TypedRow {
  const last = rows.at(-1);
  return last?.['vlan'] === undefined ? {} : { type: last['type'] ?? '', vlan: last['vlan'] };
}
