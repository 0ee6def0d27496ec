// The style of a link's line, shared by all users.
import { type LinkStyle, readLinkStyle } from '../../model/lab/label-style.ts';
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
  const update = (link_style: object): Promise<boolean> =>
    attempt(() => history.update([{ kind: 'link', id: link.link_id, fields: { link_style } }]));
  // Keep members of other clients.
  const change = (fields: LinkStyle): Promise<boolean> => update({ ...link.link_style, ...fields });
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
        <Button disabled={Object.keys(style).length === 0} onClick={() => void update({})} text={words.plain} />
      </div>
    </Changing>
  );
}
