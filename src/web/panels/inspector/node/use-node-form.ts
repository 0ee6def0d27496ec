// A form for settings of a node, which follows what others do to it.
import { useEffect, useMemo } from 'preact/hooks';
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
  /** Asks for what the form is made of once more. */
  again: () => void;
  save: (changes: Record<string, unknown>) => Promise<Values>;
}

/** Changes a node as a step that can be undone; gives it as it is then. @throws Refusal */
export async function changedNode(history: History, node: NodeObject, fields: Fields): Promise<NodeObject> {
  const [now = {}] = await history.update([{ kind: 'node', id: node.node_id, fields }]);
  return { ...node, ...now, properties: { ...node.properties, ...(now['properties'] as object | undefined) } };
}

/** @param choose the fields, of those of every node and those of its type */
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
  return {
    form,
    problem: loaded.problem.value,
    again: loaded.again,
    save: async (changes) => valuesOf(await changedNode(history, node, bodyOf(changes, node))),
  };
}
