// Titles of presets.
import { WORDS } from '../../../words.ts';

/** The API's name for a preset without a title, such as one of a newer server. */
export function presetTitle(name: string): string {
  return (WORDS.presets as Readonly<Record<string, string>>)[name] ?? name;
}
