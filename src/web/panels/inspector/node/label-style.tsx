// The style of a node's label, shared by all users: colour, size, weight, rotation. Collapsed, because few need it.
import type { LabContext } from '../../../lab-context.ts';
import { type LabelLook, lookOf, restyled } from '../../../model/lab/label-style.ts';
import type { LabelObject, NodeObject } from '../../../model/server/types.ts';
import { WORDS } from '../../../words.ts';
import { CheckField, ColourField, NumberField } from '../fields.tsx';

const words = WORDS.drawings;

export function LabelStyleFields({ context, node }: { context: LabContext; node: NodeObject }) {
  const { attempt, history } = context;
  const { label } = node;
  const look = lookOf(label.style);
  const update = (fields: (now: LabelObject) => Partial<LabelObject>): Promise<boolean> => {
    // Use the server's label: a recent change may not have arrived here yet.
    const changed = ({ label: now }: Readonly<Record<string, unknown>>) => ({
      label: { ...(now as LabelObject), ...fields(now as LabelObject) },
    });
    return attempt(() => history.update([{ kind: 'node', id: node.node_id, fields: changed }]));
  };
  const change = (fields: Partial<LabelLook>): Promise<boolean> =>
    update(({ style }) => ({ style: restyled(style, fields) }));
  return (
    <details>
      <summary>{WORDS.node.labelStyle}</summary>
      <div class="fields">
        <ColourField label={words.colour} value={look.colour} change={(colour) => change({ colour })} />
        <NumberField label={words.size} value={look.size} least={4} most={200} change={(size) => change({ size })} />
        <CheckField label={words.bold} value={look.isBold} change={(isBold) => change({ isBold })} />
        <CheckField label={words.italic} value={look.isItalic} change={(isItalic) => change({ isItalic })} />
        <NumberField
          label={words.rotation}
          value={label.rotation ?? 0}
          least={-359}
          most={360}
          change={(rotation) => update(() => ({ rotation }))}
        />
      </div>
    </details>
  );
}
