// A form for settings of a node, which follows what others do to it.
import { useEffect, useMemo } from 'preact/hooks';
import { nodeMembers, settingsOf } from '../../../forms/document.ts';
import { FormModel, type Values } from '../../../forms/model.ts';
import type { Field } from '../../../forms/schema.ts';
import { api } from '../../../model/api.ts';
import type { Lab } from '../../../model/lab.ts';
import { type Loaded, useLoaded } from '../../../model/loaded.ts';
import type { NodeObject } from '../../../model/types.ts';
import { WORDS } from '../../../words.ts';
import { bodyOf, valuesOf } from './changes.ts';

export interface NodeForm {
  form: FormModel | undefined;
  /** Why there is no form. */
  problem: string;
  save: (changes: Record<string, unknown>) => Promise<Values>;
}

/** @param choose the fields, of those of every node and those of its type */
export function useNodeForm(
  lab: Lab,
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
    save: async (changes) =>
      valuesOf(await api.put<NodeObject>(`${lab.path}/nodes/${node.node_id}`, bodyOf(changes, node))),
  };
}
