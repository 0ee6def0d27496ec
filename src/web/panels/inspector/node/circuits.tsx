// The circuits of Frame Relay and ATM switches: the object `mappings` as rows with two ends.

import { useEffect, useMemo } from 'preact/hooks';
import { FormFrame } from '../../../forms/form-view.tsx';
import { ListControl } from '../../../forms/list-control.tsx';
import { FormModel } from '../../../forms/model.ts';
import { type Field, fieldsOf } from '../../../forms/schema.ts';
import type { TypedRow } from '../../../forms/values.ts';
import type { NodeObject } from '../../../model/server/types.ts';
import { WORDS } from '../../../words.ts';
import type { TabProps } from '../tabs.tsx';
import { changedNode } from './use-node-form.ts';

const words = WORDS.node;

/** Format of an end. */
const ENDS: Readonly<Record<string, string>> = {
  frame_relay_switch: '^\\s*\\d+:\\d+\\s*$',
  atm_switch: '^\\s*\\d+:\\d+(:\\d+)?\\s*$',
};

export function circuitField(type: string): Field {
  const end = (title: string) => ({ type: 'string', minLength: 1, title, pattern: ENDS[type] ?? '' });
  return fieldsOf({
    properties: {
      mappings: {
        type: 'array',
        title: words.circuits,
        items: {
          properties: { from: end(words.circuitFrom), to: end(words.circuitTo) },
          required: ['from', 'to'],
        },
      },
    },
  })[0]!;
}

function rowsOf(node: NodeObject): { mappings: TypedRow[] } {
  const mappings = Object.entries((node.properties['mappings'] ?? {}) as Record<string, string>);
  return { mappings: mappings.map(([from, to]) => ({ from, to })) };
}

export function Circuits({ context, object: node }: TabProps<NodeObject>) {
  const form = useMemo(
    () => new FormModel({ fields: [circuitField(node.node_type)], base: rowsOf(node), words: WORDS.forms.problems }),
    [node.node_id],
  );
  useEffect(() => form.follow(rowsOf(node)), [form, node]);
  const [field] = form.fields as [Field];
  const save = async ({ mappings }: Record<string, unknown>): Promise<{ mappings: TypedRow[] }> => {
    const circuits = (mappings as { from: string; to: string }[]).map(({ from, to }) => [from.trim(), to.trim()]);
    const ends = circuits.map(([from]) => from!);
    const twice = ends.find((end, index) => ends.indexOf(end) < index);
    // An object cannot hold both.
    if (twice !== undefined) throw new Error(`mappings: ${words.circuitTwice(twice)}`);
    const body = { properties: { mappings: Object.fromEntries(circuits) } };
    return rowsOf(await changedNode(context.history, { current: node }, body));
  };
  return (
    <FormFrame form={form} save={save}>
      <h3>{words.circuits}</h3>
      <small>{words.circuitHelp[node.node_type]}</small>
      <ListControl form={form} field={field} rows={form.shown(field) as readonly TypedRow[]} />
    </FormFrame>
  );
}
