// Presets of impairments: their titles, and which one a link has.
import { isSame } from '../../../model/browser/same-json.ts';
import type { Directions, PresetObject } from '../../../model/server/types.ts';
import { WORDS } from '../../../words.ts';

/** The API's name for a preset without a title, such as one of a newer server. */
export function presetTitle(name: string): string {
  return (WORDS.presets as Readonly<Record<string, string>>)[name] ?? name;
}

/** The preset with these values; `subscriber` is the end with its `up`, as an index of the link's nodes. */
export function presetOf(
  presets: readonly PresetObject[],
  { forward, backward }: Partial<Directions>,
): { preset: PresetObject; subscriber: number } | undefined {
  for (const preset of presets) {
    const { up, down } = preset;
    if (isSame([forward, backward], [up, down])) return { preset, subscriber: 0 };
    if (isSame([forward, backward], [down, up])) return { preset, subscriber: 1 };
  }
  return undefined;
}
