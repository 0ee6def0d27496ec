// The templates for nodes: those of users, kept in the store, and the built-in ones.
import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { findNodeKind } from '../../api/kinds/kinds.ts';
import { type Template, TemplateCreate, type TemplateUpdate } from '../../api/routes/templates.ts';
import { conflict, invalid, notFound } from '../../failures.ts';
import { log } from '../../host/log.ts';
import { KeyedLock } from '../../host/values/keyed-lock.ts';
import { validated } from '../../http/app/validation.ts';
import type { Documents } from '../../store/documents.ts';
import { BUILTIN_TEMPLATES } from './builtins.ts';
import { partialTypeSchema, typeSchema } from './type-schemas.ts';

/** Events for all listeners of the controller. */
export type TemplateEvents = Record<'template.created' | 'template.updated' | 'template.deleted', Template>;

export interface TemplatesOptions {
  documents: Documents;
  emit: (action: keyof TemplateEvents, template: Template) => void;
  /** `enable_builtin_templates` of the configuration. */
  builtins: boolean;
}

/** Members that an update cannot change. */
const FIXED: readonly string[] = ['template_id', 'template_type', 'compute_id', 'builtin'];

export class Templates {
  readonly #options: TemplatesOptions;
  /** By id, in the order of the list. */
  readonly #templates = new Map<string, Template>();
  readonly #lock = new KeyedLock();

  constructor(options: TemplatesOptions) {
    this.#options = options;
  }

  /** Loads the stored templates. Invalid ones are skipped and stay in the store. */
  async start(): Promise<void> {
    for (const { id, body } of await this.#options.documents.list('templates')) {
      const stored = v.safeParse(Stored, body);
      if (stored.success) this.#templates.set(id, { ...(stored.output as Template), template_id: id });
      else log.warn('stored template ignored: it is damaged', { template: id, reason: stored.issues[0].message });
    }
    if (!this.#options.builtins) return;
    for (const builtin of BUILTIN_TEMPLATES) {
      if (!this.#templates.has(builtin.template_id)) this.#templates.set(builtin.template_id, builtin);
    }
  }

  /** Stored templates, built-in ones, then new ones. */
  list(): Template[] {
    return [...this.#templates.values()];
  }

  /** @throws Failure `not-found` */
  get(id: string): Template {
    const template = this.#templates.get(id);
    if (template === undefined) throw notFound(`There is no template ${id}.`);
    return template;
  }

  /**
   * Adds a template; missing settings get the defaults of the type.
   * @throws Failure `invalid`, or `conflict` if the id is taken
   */
  async create(request: v.InferOutput<typeof TemplateCreate>): Promise<Template> {
    const id = request.template_id ?? randomUUID();
    return await this.#lock.run(id, async () => {
      if (this.#templates.has(id)) throw conflict(`template_id: there already is a template ${id}`);
      const template = complete({ ...request, template_id: id, builtin: false });
      await this.#keep(template, 'template.created');
      return template;
    });
  }

  /**
   * Changes settings, but not id, type and compute. Members that the type does not have are kept unchanged.
   * @throws Failure `not-found`, `invalid`
   */
  async update(id: string, request: v.InferOutput<typeof TemplateUpdate>): Promise<Template> {
    return await this.#lock.run(id, async () => {
      const template = this.get(id);
      const changes = Object.fromEntries(Object.entries(request).filter(([member]) => !FIXED.includes(member)));
      const schema = partialTypeSchema({ ...template, ...changes });
      const changed: Template = { ...template, ...(validated(schema, changes) as object) };
      await this.#keep(changed, 'template.updated');
      return changed;
    });
  }

  /** @throws Failure `not-found`, or `conflict` for a built-in one */
  async delete(id: string): Promise<void> {
    await this.#lock.run(id, async () => {
      const template = this.#ofPeople(id, 'deleted');
      await this.#options.documents.delete('templates', id);
      this.#templates.delete(id);
      this.#options.emit('template.deleted', template);
    });
  }

  /**
   * Copies a template under a new id with the same name.
   * @throws Failure `not-found`, `conflict` for a built-in one, `invalid` for members that its type does not have
   */
  async duplicate(id: string, copy = randomUUID()): Promise<Template> {
    return await this.create(validated(TemplateCreate, { ...this.#ofPeople(id, 'duplicated'), template_id: copy }));
  }

  #ofPeople(id: string, verb: string): Template {
    const template = this.get(id);
    if (template.builtin) throw conflict(`The built-in template ${template.name} cannot be ${verb}.`);
    return template;
  }

  /** Built-in templates are never stored: their changes last until the server stops. */
  async #keep(template: Template, action: keyof TemplateEvents): Promise<void> {
    if (!template.builtin) await this.#options.documents.put('templates', template.template_id, template);
    this.#templates.set(template.template_id, template);
    this.#options.emit(action, template);
  }
}

/** The members that a stored template needs to be listed and used. */
const Stored = v.looseObject({
  template_type: v.string(),
  name: v.string(),
  compute_id: v.nullable(v.string()),
  default_name_format: v.string(),
  symbol: v.string(),
  category: v.picklist(['router', 'switch', 'guest', 'firewall']),
  builtin: v.literal(false),
});

/** Member names of older clients. */
const RENAMED = { linked_base: 'linked_clone', server: 'compute_id', node_type: 'template_type' } as const;

/** The settings with present member names, validated and with the defaults of their type. */
function complete(request: Record<string, unknown>): Template {
  const settings: Record<string, unknown> = { ...request };
  for (const [old, name] of Object.entries(RENAMED)) {
    if (!Object.hasOwn(settings, old)) continue;
    settings[name] = settings[old];
    delete settings[old];
  }
  const type = String(settings['template_type']);
  for (const member of findNodeKind(type)?.template.ignored ?? []) delete settings[member];
  const schema = typeSchema({ ...settings, template_type: type });
  if (schema === undefined) throw invalid(`template_type: ${type} has no settings to keep; use the built-in template`);
  return validated(schema, settings) as Template;
}
