// The style of a link's line, shared by all users.
import { type LinkStyle, readLinkStyle } from '../../model/lab/label-style.ts';
import type { Update } from '../../model/lab/undo.ts';
import type { LinkObject } from '../../model/server/types.ts';
import { WORDS } from '../../words.ts';
import { Button } from '../button.tsx';
import { Changing } from './changing.tsx';
import { ChoiceField, ColourField, NumberField } from './fields.tsx';
import type { TabProps } from './tabs.tsx';

const words = WORDS.links;

export function LinkStyleTab({ context, object: link }: TabProps<LinkObject>) {
  const { attempt, history } = context;
  const style = readLinkStyle(link.link_style ?? {});
  const update = (fields: Update['fields']): Promise<boolean> =>
    attempt(() => history.update([{ kind: 'link', id: link.link_id, fields }]));
  // From the server's style: a recent change may not have arrived here yet, and members of other clients stay.
  const change = (fields: LinkStyle): Promise<boolean> =>
    update(({ link_style }) => ({ link_style: { ...(link_style as object | null), ...fields } }));
  return (
    <Changing context={context}>
      <div class="fields">
        <ColourField label={words.colour} value={style.color ?? '#000000'} change={(color) => change({ color })} />
        <NumberField
          label={words.width}
          value={style.width ?? 2}
          least={1}
          most={30}
          change={(width) => change({ width })}
        />
        <ChoiceField
          label={words.pen}
          value={String(style.type ?? 1)}
          choices={words.pens}
          change={(type) => change({ type: Number(type) })}
        />
        <Button
          disabled={Object.keys(style).length === 0}
          onClick={() => void update({ link_style: {} })}
          text={words.plain}
        />
      </div>
    </Changing>
  );
}
