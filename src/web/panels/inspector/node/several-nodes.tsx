// Several nodes: their common settings, set for each.
import { useEffect, useMemo } from 'preact/hooks';
import { nodeMembers, settingsOf } from '../../../forms/document.ts';
import { FormView } from '../../../forms/form-view.tsx';
import { FormModel } from '../../../forms/model.ts';
import type { LabContext } from '../../../lab-context.ts';
import { useLoaded } from '../../../model/server/loaded.ts';
import { sentenceOf } from '../../../model/server/sentence.ts';
import type { NodeObject } from '../../../model/server/types.ts';
import { WORDS } from '../../../words.ts';
import { Message } from '../../message.tsx';
import { Changing } from '../changing.tsx';
import { bodyOf, commonFields, commonValues, withResult } from './changes.ts';
import { HostField } from './host-field.tsx';

const words = WORDS.node;

export function Several({ context, nodes }: { context: LabContext; nodes: readonly NodeObject[] }) {
  const types = [...new Set(nodes.map(({ node_type: type }) => type))].sort();
  const ids = nodes.map(({ node_id: id }) => id).join();
  const { value, problem, again } = useLoaded(
    async () => commonFields(await nodeMembers(), await Promise.all(types.map(settingsOf))),
    [types.join()],
  );
  const fields = value.value;
  const form = useMemo(
    () => fields && new FormModel({ fields, base: commonValues(nodes), words: WORDS.forms.problems }),
    [fields, ids],
  );
  useEffect(() => form?.follow(commonValues(nodes)), [form, ...nodes]);
  const save = async (changes: Record<string, unknown>): Promise<Record<string, unknown>> => {
    const failures: string[] = [];
    const reasons = new Set<string>();
    const results = await context.history.updateEach(
      nodes.map((node) => ({ kind: 'node', id: node.node_id, fields: bodyOf(changes) })),
    );
    for (const [index, result] of results.entries()) {
      if (result.status === 'fulfilled') continue;
      failures.push(nodes[index]!.name);
      reasons.add(sentenceOf(result.reason));
    }
    if (failures.length === 0) return { ...form?.base.value, ...changes };
    // Events of the own changes may come later, and would count as changes of others.
    const now = nodes.map((node) => context.lab.nodes.get(node.node_id) ?? node);
    form?.follow(commonValues(now.map((node, index) => withResult(node, results[index]!))));
    throw new Error([...reasons, words.failedFor(failures.join(', '))].join('; '));
  };
  if (problem.value !== '') return <Message text={problem.value} again={again} />;
  if (!form) return <p>{words.loading}</p>;
  return (
    <>
      <HostField context={context} nodes={nodes} />
      <Changing context={context}>
        <FormView key={ids} form={form} save={save}>
          <h3>{words.common}</h3>
          <small>{words.commonHelp}</small>
        </FormView>
      </Changing>
    </>
  );
}
