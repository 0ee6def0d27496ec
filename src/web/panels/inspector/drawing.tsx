// A drawing: its place.
import type { DrawingObject } from '../../model/types.ts';
import { WORDS } from '../../words.ts';
import type { TabProps } from './tabs.tsx';

export function DrawingDetails({ object: drawing }: TabProps<DrawingObject>) {
  return (
    <>
      <h2>{WORDS.drawings.one}</h2>
      <p>
        {drawing.x}, {drawing.y}
      </p>
    </>
  );
}
