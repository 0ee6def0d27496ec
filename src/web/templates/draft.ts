// A template that another screen begins: the templates screen shows its form.

export interface TemplateDraft {
  /** Type of its nodes, which is also the emulator of the image. */
  type: string;
  image: string;
}

let begun: TemplateDraft | undefined;

export function beginTemplate(draft: TemplateDraft): void {
  begun = draft;
}

/** Gives the draft once. */
export function takeDraft(): TemplateDraft | undefined {
  const draft = begun;
  begun = undefined;
  return draft;
}
