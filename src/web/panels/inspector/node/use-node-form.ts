// A form for node settings that follows changes by other clients.
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { nodeMembers, settingsOf } from '../../../forms/document.ts';
import { FormModel, type Values } from '../../../forms/model.ts';
import type { Field } from '../../../forms/schema.ts';
import type { History } from '../../../model/lab/undo.ts';
import type { Fields } from '../../../model/lab/undo-fields.ts';
import { type Loaded, useLoaded } from '../../../model/server/loaded.ts';
import type { NodeObject } from '../../../model/server/types.ts';
import { WORDS } from '../../../words.ts';
import { bodyOf, valuesOf } from './changes.ts';

export interface NodeForm {
  form: FormModel | undefined;
  /** Why there is no form. */
  problem: string;
  /** Reloads the schemas of the form. */
  again: () => Promise<void>;
  save: (changes: Record<string, unknown>) => Promise<Values>;
}

/**
 * Changes a node as an undoable step; returns it as it is afterwards. Related changes, such as the label after the name, arrive as events,
 * perhaps before the answer: `known` returns this page's state once the answer is there. @throws Refusal
 */
export async function changedNode(
  history: History,
  known: { readonly current: NodeObject },
  fields: Fields,
): Promise<NodeObject> {
  const [now = {}] = await history.update([{ kind: 'node', id: known.current.node_id, fields }]);
  const node = known.current;
  return { ...node, ...now, properties: { ...node.properties, ...(now['properties'] as object | undefined) } };
}

/** @param choose picks the fields from those of every node and those of the type */
export function useNodeForm(
  history: History,
  node: NodeObject,
  choose: (members: readonly Field[], settings: readonly Field[]) => Field[],
): NodeForm {
  const loaded: Loaded<Field[]> = useLoaded(
    async () => choose(await nodeMembers(), await settingsOf(node.node_type)),
    [node.node_type],
  );
  const fields = loaded.value.value;
  const form = useMemo(
    () => fields && new FormModel({ fields, base: valuesOf(node), words: WORDS.forms.problems }),
    [fields],
  );
  useEffect(() => form?.follow(valuesOf(node)), [form, node]);
  const known = useRef(node);
  known.current = node;
  return {
    form,
    problem: loaded.problem.value,
    again: loaded.again,
    save: async (changes) => valuesOf(await changedNode(history, known, bodyOf(changes))),
  };
}
