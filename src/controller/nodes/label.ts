// Labels of nodes and their positions (as in release 2.2.57).

import type { Label } from '../../api/vocabulary.ts';
import { roundHalfToEven } from '../symbols/picture-size.ts';

/** The default label: above the symbol, centred by the client. */
export function defaultLabel(name: string, height: number): Label {
  return { text: name, style: null, x: null, y: -roundHalfToEven(height / 2 + 10), rotation: 0 };
}
