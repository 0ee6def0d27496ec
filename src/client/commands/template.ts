// `labwired template`: templates for nodes.

import type { TemplateObject } from '../../api/objects.ts';
import { WrongUsage } from '../../commands/wrong-usage.ts';
import { type Noun, verb } from '../frame/command.ts';
import type { Session } from '../frame/session.ts';
import { findNamed } from '../server/find.ts';
import { SET, settingsBody, templateSettings } from '../server/settings.ts';
import { applianceNamed } from './appliance.ts';

const idOf = ({ template_id }: Pick<TemplateObject, 'template_id'>): string => template_id;

function templates(session: Session): Promise<TemplateObject[]> {
  return session.api.get('/v2/templates');
}

/** The template of this name or id. @throws Failure */
export async function templateNamed(session: Session, wanted: string): Promise<TemplateObject> {
  return findNamed('template', await templates(session), (one) => ({ id: idOf(one), name: one.name }), wanted);
}

interface CreateFlags {
  type?: string;
  appliance?: string;
  version?: string;
  compute?: string;
  set?: readonly string[];
}

async function create(session: Session, name: string | undefined, flags: CreateFlags): Promise<TemplateObject> {
  const { type, appliance, version, compute = 'local', set = [] } = flags;
  if ((type === undefined) === (appliance === undefined)) {
    throw new WrongUsage(
      'Say what it is: --type TYPE, such as qemu, or --appliance APPLIANCE, which labwired appliance list shows.',
    );
  }
  if (type === undefined) {
    if (set.length > 0)
      throw new WrongUsage(
        '--set cannot be used with --appliance: change the settings with template update afterwards.',
      );
    const { appliance_id } = await applianceNamed(session, compute, appliance!);
    return session.api.post(`/v2/appliances/${appliance_id}/template`, { version, compute_id: compute, name });
  }
  if (version !== undefined) throw new WrongUsage('--version needs --appliance.');
  if (name === undefined) throw new WrongUsage('NAME is missing: labwired template create NAME --type TYPE');
  const settings = settingsBody(set, await templateSettings(session.api, type, platformIn(set)));
  return session.api.post('/v2/templates', { template_type: type, name, compute_id: compute, ...settings });
}

/** Of a router: it decides which other settings there are. */
function platformIn(set: readonly string[]): string | undefined {
  const prefix = 'platform=';
  return set.findLast((word) => word.startsWith(prefix))?.slice(prefix.length);
}

async function update(
  session: Session,
  wanted: string,
  { set = [], name }: { set?: readonly string[]; name?: string },
): Promise<TemplateObject> {
  if (set.length === 0 && name === undefined)
    throw new WrongUsage('Say what to change: --set NAME=VALUE or --name NAME');
  const { template_type, platform, ...found } = await templateNamed(session, wanted);
  const settings =
    set.length === 0 ? {} : settingsBody(set, await templateSettings(session.api, template_type, platform));
  const body = { ...settings, ...(name !== undefined && { name }) };
  return session.api.request('PUT', `/v2/templates/${idOf(found)}`, body) as Promise<TemplateObject>;
}

export const template: Noun = {
  name: 'template',
  summary: 'templates of nodes',
  verbs: [
    verb({
      name: 'list',
      summary: 'lists all templates, including built-in ones',
      run: async (session) =>
        session.show(await templates(session), idOf, [
          { heading: 'TEMPLATE', cell: ({ name }) => name },
          { heading: 'TYPE', cell: ({ template_type }) => template_type },
          { heading: 'COMPUTE', cell: ({ compute_id }) => compute_id ?? 'any' },
          { heading: 'ID', cell: idOf },
        ]),
    }),
    verb({
      name: 'create',
      words: ['[NAME]'],
      summary: 'creates a template from a type and settings, or from an appliance with its images',
      flags: {
        type: { value: 'TYPE', summary: 'such as qemu, docker or vpcs' },
        set: SET,
        appliance: { value: 'APPLIANCE', short: 'a', summary: 'by name or id; see labwired appliance list' },
        version: { value: 'VERSION', summary: 'of the appliance (the first with all images)' },
        compute: { value: 'ID', summary: 'the host of its nodes (local)' },
      },
      run: async (session, [name], flags) => {
        const made = await create(session, name, flags);
        session.tell(`Template "${made.name}" created: ${idOf(made)}`, idOf(made), made);
      },
    }),
    verb({
      name: 'update',
      words: ['TEMPLATE'],
      summary: 'changes it for new nodes; existing nodes stay as they are',
      flags: { set: SET, name: { value: 'NAME', summary: 'the new name' } },
      run: async (session, [wanted], flags) => {
        const changed = await update(session, wanted, flags);
        session.tell(`Template "${changed.name}" is changed.`, idOf(changed), changed);
      },
    }),
    verb({
      name: 'delete',
      words: ['TEMPLATE...'],
      summary: 'deletes templates; their nodes stay',
      run: async (session, wanted) => {
        for (const word of wanted) {
          const found = await templateNamed(session, word);
          await session.api.delete(`/v2/templates/${idOf(found)}`);
          session.tell(`Template "${found.name}" deleted.`, idOf(found));
        }
      },
    }),
  ],
};
