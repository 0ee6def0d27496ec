// Templates of release 3.0.6: with version, usage and times in every type, and other identifiers for the built-in ones.
import { findNodeKind } from '../../api/kinds/kinds.ts';
import { conflict, Failure, forbidden } from '../../failures.ts';
import { mendAll } from '../../http/v3/lenient.ts';
import type { Documents } from '../../store/documents.ts';
import { BUILTIN_TEMPLATES } from '../templates/builtins.ts';
import type { Templates } from '../templates/templates.ts';
import { typeSchema } from '../templates/type-schemas.ts';
import { ethertypes, timeV3 } from './objects.ts';

type Members = Record<string, unknown>;

/** By type. */
const BUILTIN_IDS: Readonly<Record<string, string>> = {
  cloud: 'b6ed2e82-d5aa-5a86-b6dd-8b9dd1c66800',
  nat: '2d7eb722-90e8-56c1-8dfa-a30d79847984',
  vpcs: '52136454-1f50-590a-94e4-816bd02d1062',
  ethernet_switch: '92a43283-9c7e-5a68-9695-1f05a2e8dd05',
  ethernet_hub: '8ed8d072-b183-541c-81ec-6e106c3a5a2a',
  frame_relay_switch: '6ae48470-232f-50a4-a0df-5fb07e6ecba7',
  atm_switch: 'fe3f642f-1398-562b-a3a8-bb93d4b2ee16',
};

const BUILTIN: ReadonlyMap<string, string> = new Map(
  BUILTIN_TEMPLATES.flatMap(({ template_id: id, template_type: type }) => {
    const other = BUILTIN_IDS[type];
    return other === undefined ? [] : [[other, id] as const];
  }),
);
const BUILTIN_BACK: ReadonlyMap<string, string> = new Map([...BUILTIN].map(([other, id]) => [id, other]));

/** Defaults that differ from those of 2.2.57. */
const DEFAULTS: Readonly<Record<string, Members>> = {
  docker: { mac_address: '', memory: 0, cpus: 0, aux_type: 'none' },
  qemu: { maxcpus: 1, mac_address: '', aux_type: 'none' },
};

/** What is kept of a template beside what 2.2.57 knows. */
interface Notes {
  version: string | null;
  usage: string;
  created: string;
  updated: string;
}

export class TemplateNotes {
  readonly #documents: Documents;
  readonly #templates: Templates;
  readonly #notes = new Map<string, Notes>();
  /** What has no time of its own is as old as this process. */
  readonly #started = timeV3(new Date());

  constructor(documents: Documents, templates: Templates) {
    this.#documents = documents;
    this.#templates = templates;
  }

  async start(): Promise<void> {
    for (const { id, body } of await this.#documents.list('template-notes'))
      this.#notes.set(id, body as unknown as Notes);
  }

  /** The identifier here of a template of 3.0.6. */
  idOf(id: string): string {
    return BUILTIN.get(id) ?? id;
  }

  /** @throws Failure `forbidden` for a built-in template */
  ownId(id: string): string {
    if (BUILTIN.has(id)) throw forbidden('template_id: built-in templates cannot be changed, copied or deleted.');
    return id;
  }

  /** @throws Failure `conflict` if another template has this name and version */
  requireNew({ name, version }: Members): void {
    const taken = this.#templates
      .list()
      .some((one) => one.name === name && (this.#notes.get(one.template_id)?.version ?? null) === (version ?? null));
    if (taken) throw conflict(`name: there is a template "${name}" of this version already.`);
  }

  /** Keeps notes before `work` makes or changes the template, whose event has them; if that fails they are as before. */
  async keep<Result>(id: string, { version, usage }: Members, work: () => Promise<Result>): Promise<Result> {
    const now = timeV3(new Date());
    const before = this.#notes.get(id);
    const notes: Notes = {
      ...(before ?? { version: null, usage: '', created: now }),
      ...(typeof version === 'string' && { version }),
      ...(typeof usage === 'string' && { usage }),
      updated: now,
    };
    await using undo = new AsyncDisposableStack();
    undo.defer(() => (before ? this.#set(id, before) : this.forget(id)));
    await this.#set(id, notes);
    const result = await work();
    undo.move();
    return result;
  }

  async #set(id: string, notes: Notes): Promise<void> {
    await this.#documents.put('template-notes', id, notes);
    this.#notes.set(id, notes);
  }

  async forget(id: string): Promise<void> {
    if (this.#notes.delete(id)) await this.#documents.delete('template-notes', id);
  }

  json(template: Members): Members {
    const id = String(template['template_id']);
    if (template['builtin'] === true) {
      const { template_id, name, category, default_name_format, symbol, template_type, compute_id, builtin } = template;
      return {
        template_id: BUILTIN_BACK.get(String(template_id)) ?? template_id,
        name,
        category,
        default_name_format,
        symbol,
        template_type,
        compute_id,
        builtin,
        ...(template_type === 'vpcs' && { base_script_file: 'vpcs_base_config.txt' }),
        ...(template_type === 'ethernet_switch' && { console_type: 'none' }),
      };
    }
    const notes = this.#notes.get(id);
    const {
      linked_base: _linked,
      legacy_networking: _legacy,
      save_vm_state: _save,
      startup_script: _script,
      ...kept
    } = template;
    return {
      ...DEFAULTS[String(template['template_type'])],
      ...ethertypes(kept),
      ...(kept['template_type'] === 'qemu' && { platform: kept['platform'] || 'x86_64' }),
      version: notes?.version ?? null,
      usage: kept['usage'] || (notes?.usage ?? ''),
      created_at: notes?.created ?? this.#started,
      updated_at: notes?.updated ?? this.#started,
    };
  }
}

/**
 * The body for 2.2.57.
 * @param before the template that is changed
 */
export function templateV2(sent: Members, before: Members = {}): Members {
  const { version: _v, usage, created_at: _c, updated_at: _u, ...given } = sent;
  const settings = { ...before, ...given };
  const type = String(settings['template_type']);
  const hasUsage = Object.hasOwn(findNodeKind(type)?.properties ?? {}, 'usage');
  const kept: Members = structuredClone({ ...given, ...(hasUsage && usage != null && { usage }) });
  const schema = schemaOf(settings);
  if (schema !== undefined) mendAll(schema, kept);
  return kept;
}

/** Undefined for settings of which the route says what is wrong. */
function schemaOf(settings: Members): ReturnType<typeof typeSchema> {
  try {
    return typeSchema(settings);
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}
