// The editable properties of a drawing, by its shape.
import { useEffect, useRef } from 'preact/hooks';
import {
  type Filled,
  isGroup,
  type Line,
  readShape,
  type Shape,
  type TextShape,
  writeShape,
} from '../../model/lab/drawing.ts';
import type { Update } from '../../model/lab/undo.ts';
import type { DrawingObject } from '../../model/server/types.ts';
import { focusShown } from '../../shell/focus.ts';
import { WORDS } from '../../words.ts';
import { VerbButton } from '../verb-button.tsx';
import { Changing } from './changing.tsx';
import { CheckField, ChoiceField, ColourField, NumberField, TextField, useDraft } from './fields.tsx';
import type { TabProps } from './tabs.tsx';

const words = WORDS.drawings;

interface ShapeProps<S extends Shape> {
  shape: S;
  change: (fields: Partial<S>) => Promise<boolean>;
}

export function DrawingDetails({ context, object: drawing }: TabProps<DrawingObject>) {
  const { attempt, history, editing, pane } = context;
  const panel = useRef<HTMLDivElement>(null);
  const shape = readShape(drawing.svg);
  const update = (fields: Update['fields']): Promise<boolean> =>
    attempt(() => history.update([{ kind: 'drawing', id: drawing.drawing_id, fields }]));
  // From the server's drawing: a recent change may not have arrived here yet.
  const change = (fields: Partial<Shape>): Promise<boolean> =>
    update(({ svg }) => {
      const now = readShape(String(svg));
      return now === undefined ? {} : { svg: writeShape({ ...now, ...fields } as Shape) };
    });
  const isEdited = editing.value === drawing.drawing_id;
  useEffect(() => {
    if (!isEdited) return;
    const field = panel.current?.querySelector<HTMLInputElement>('textarea, input');
    pane.value = 'details';
    focusShown(field);
    field?.select();
    editing.value = undefined;
  }, [isEdited, editing, pane]);
  return (
    <>
      <h2>{words.kinds[isGroup(shape) ? 'group' : (shape?.kind ?? 'picture')]}</h2>
      <p class="tools">
        {['duplicate', 'raise', 'lower', 'lock', 'delete'].map((verb) => (
          <VerbButton key={verb} context={context} id={`drawing.${verb}`} />
        ))}
      </p>
      <Changing context={context}>
        <div class="fields" ref={panel}>
          {shape?.kind === 'text' && <TextFields shape={shape} change={change} back={() => context.map?.focus()} />}
          {(shape?.kind === 'rect' || shape?.kind === 'ellipse') && <FilledFields shape={shape} change={change} />}
          {shape?.kind === 'line' && <BorderFields shape={shape} change={change} />}
          {!shape && <p>{words.foreign}</p>}
          <NumberField label={words.x} value={drawing.x} change={(x) => update({ x })} />
          <NumberField label={words.y} value={drawing.y} change={(y) => update({ y })} />
          <NumberField
            label={words.rotation}
            value={drawing.rotation}
            least={-359}
            most={360}
            change={(rotation) => update({ rotation })}
          />
          <NumberField label={words.layer} value={drawing.z} change={(z) => update({ z })} />
        </div>
      </Changing>
    </>
  );
}

function TextFields({ shape, change, back }: ShapeProps<TextShape> & { back: () => void }) {
  const { attributes, keep } = useDraft(shape.text, (text) => change({ text }));
  return (
    <>
      <label class="wide">
        {words.text}
        <textarea
          rows={4}
          {...attributes}
          onChange={({ currentTarget }) => keep(currentTarget.value)}
          onKeyDown={(event) => {
            // Leaving the field saves it.
            if (event.key === 'Escape' || (event.key === 'Enter' && event.ctrlKey)) back();
          }}
        />
      </label>
      <ColourField label={words.colour} value={shape.fill} change={(fill) => change({ fill })} />
      <TextField label={words.font} value={shape.fontFamily} change={(fontFamily) => change({ fontFamily })} />
      <NumberField
        label={words.size}
        value={shape.fontSize}
        least={4}
        most={200}
        change={(fontSize) => change({ fontSize })}
      />
      <CheckField label={words.bold} value={shape.isBold} change={(isBold) => change({ isBold })} />
      <CheckField label={words.italic} value={shape.isItalic} change={(isItalic) => change({ isItalic })} />
    </>
  );
}

function FilledFields({ shape, change }: ShapeProps<Filled>) {
  return (
    <>
      <ColourField label={words.fill} value={shape.fill} change={(fill) => change({ fill })} />
      <NumberField
        label={words.opacity}
        value={shape.fillOpacity}
        least={0}
        most={1}
        step={0.1}
        change={(fillOpacity) => change({ fillOpacity })}
      />
      <BorderFields shape={shape} change={change} />
      <NumberField label={words.width} value={shape.width} least={5} change={(width) => change({ width })} />
      <NumberField label={words.height} value={shape.height} least={5} change={(height) => change({ height })} />
      {shape.kind === 'rect' && (
        <NumberField label={words.radius} value={shape.radius} least={0} change={(radius) => change({ radius })} />
      )}
      <CheckField label={words.group} value={shape.isGroup} change={(isGroup) => change({ isGroup })} />
    </>
  );
}

function BorderFields({ shape, change }: ShapeProps<Filled> | ShapeProps<Line>) {
  const dashes = { '': words.solid, '10 5': words.dashed, '2 4': words.dotted };
  return (
    <>
      <ColourField label={words.border} value={shape.stroke} change={(stroke) => change({ stroke })} />
      <NumberField
        label={words.borderWidth}
        value={shape.strokeWidth}
        least={0}
        most={50}
        change={(strokeWidth) => change({ strokeWidth })}
      />
      <ChoiceField
        label={words.dashes}
        value={shape.dashes}
        choices={{ ...dashes, ...(!(shape.dashes in dashes) && { [shape.dashes]: shape.dashes }) }}
        change={(value) => change({ dashes: value })}
      />
    </>
  );
}
