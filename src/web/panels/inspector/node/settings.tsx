// The settings of a node's type, from the server's schema.
import { FormView } from '../../../forms/form-view.tsx';
import { useImages } from '../../../forms/images.ts';
import type { NodeObject } from '../../../model/server/types.ts';
import { WORDS } from '../../../words.ts';
import { DocumentLink, topicOf } from '../../document-link.tsx';
import { Message } from '../../message.tsx';
import { Changing } from '../changing.tsx';
import type { TabProps } from '../tabs.tsx';
import { ownFields } from './changes.ts';
import { useNodeForm } from './use-node-form.ts';

const words = WORDS.node;

export function Settings({ context, object: node }: TabProps<NodeObject>) {
  const { form, problem, again, save } = useNodeForm(context.history, node, (members, settings) =>
    ownFields(members, settings, node),
  );
  const offers = useImages(node.compute_id, form?.fields ?? []);
  const isOff = node.status === 'stopped';
  if (problem) {
    return <Message text={problem} again={again} />;
  }
  if (!form) return <p>{words.loading}</p>;
  if (form.fields.length === 0) return <p>{words.noSettings}</p>;
  return (
    <Changing context={context}>
      <FormView
        form={form}
        save={save}
        offers={offers}
        note={({ effect }) => {
          if (effect === 'recreate') return words.recreated;
          if (isOff || !effect) return '';
          return effect === 'start' ? words.nextStart : words.whenStopped;
        }}
      />
      <DocumentLink topic={topicOf(node.node_type)} />
    </Changing>
  );
}
