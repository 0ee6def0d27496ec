// The address of the templates screen with the form of a new template open.

export interface TemplateDraft {
  /** Type of its nodes, which is also the emulator of the image. */
  type: string;
  image: string;
}

export function draftAddress({ type, image }: TemplateDraft): string {
  return `/templates?${new URLSearchParams({ type, image })}`;
}

/** The draft in the query of an address, if there is one. */
export function draftIn(query: string): TemplateDraft | undefined {
  const asked = new URLSearchParams(query);
  const [type, image] = [asked.get('type'), asked.get('image')];
  return type === null || image === null ? undefined : { type, image };
}
