// The text of a setting of nodes or templates, for the API document and the forms made from it.
export interface SettingWords {
  /** Label in a form. */
  title: string;
  description?: string;
  unit?: string;
  /** Multi-line text. */
  lines?: true;
  /** Names an image of its kind. */
  images?: true;
  /** Hidden input. */
  secret?: true;
}

/** By form group and name, in the form's order; those without a group first. */
export type GroupedWords = Readonly<Record<string, Readonly<Record<string, SettingWords>>>>;

export const words = (
  title: string,
  description?: string,
  more: Omit<SettingWords, 'title' | 'description'> = {},
): SettingWords => ({ title, ...(description !== undefined && { description }), ...more });
