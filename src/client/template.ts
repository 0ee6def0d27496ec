// `labwired template`: what nodes can be made of.
import { type Noun, verb } from './command.ts';
import { findNamed } from './find.ts';
import type { TemplateObject } from './objects.ts';
import type { Session } from './session.ts';

const idOf = ({ template_id }: TemplateObject): string => template_id;

function templates(session: Session): Promise<TemplateObject[]> {
  return session.api.get('/v2/templates');
}

/** The template of this name or id. @throws Failure */
export async function templateNamed(session: Session, wanted: string): Promise<TemplateObject> {
  return findNamed('template', await templates(session), (one) => ({ id: idOf(one), name: one.name }), wanted);
}

export const template: Noun = {
  name: 'template',
  summary: 'what nodes can be made of',
  verbs: [
    verb({
      name: 'list',
      words: [],
      summary: 'all templates, those that are built in included',
      flags: {},
      run: async (session) =>
        session.show(await templates(session), idOf, [
          { heading: 'TEMPLATE', cell: ({ name }) => name },
          { heading: 'TYPE', cell: ({ template_type }) => template_type },
          { heading: 'COMPUTE', cell: ({ compute_id }) => compute_id ?? 'any' },
          { heading: 'ID', cell: idOf },
        ]),
    }),
  ],
};
