// Appliances of release 3.0.6: versions that clients add, and templates made of all that are complete.
import { posix } from 'node:path';
import { V3_ROUTES } from '../../api/routes/v3.ts';
import { conflict, notFound } from '../../failures.ts';
import type { HttpRoute, RouteRequest } from '../../http/app/route.ts';
import { v3RoutesOf, WrongRequest } from '../../http/v3/form.ts';
import type { ApplianceVersion } from '../appliances/document.ts';
import type { ApplianceVerbs } from '../appliances/routes.ts';
import { imagesIn } from '../projects/image-users.ts';
import type { Templates } from '../templates/templates.ts';

const { route } = v3RoutesOf(V3_ROUTES);

export interface ApplianceParts {
  appliances: ApplianceVerbs;
  templates: Templates;
}

type Members = Record<string, unknown>;

/** Versions that clients have added, by appliance, until the list is read again (as in release 3.0.6). */
class AddedVersions {
  readonly #versions = new Map<string, ApplianceVersion[]>();

  of(id: string): readonly ApplianceVersion[] {
    return this.#versions.get(id) ?? [];
  }

  add(id: string, version: ApplianceVersion): void {
    this.#versions.set(id, [...this.of(id), version]);
  }

  forget(): void {
    this.#versions.clear();
  }
}

/**
 * Makes templates of all appliances whose images are complete and not all used by templates.
 * @param image only of those with this file
 */
export async function installAppliances(
  { appliances, templates }: ApplianceParts,
  { signal, image }: { signal: AbortSignal; image?: string | undefined },
): Promise<void> {
  const used = new Set(templates.list().flatMap((one) => [...imagesIn(one.template_type, one)]));
  for (const { appliance_id: id, emulator, version, images } of await appliances.matches({ complete: 'yes' }, signal)) {
    const names = images.map(({ path }) => posix.basename(path ?? ''));
    const isNew = names.some((name) => !used.has(`${emulator}/${name}`));
    if (version === null || !isNew || (image !== undefined && !names.includes(image))) continue;
    await appliances.makeTemplate(id, { version, compute_id: 'local' }, signal);
  }
}

export function applianceRoutes({ appliances }: ApplianceParts): HttpRoute[] {
  const added = new AddedVersions();
  const find = async (request: RouteRequest): Promise<Members> => {
    const { appliance_id: id } = request.params as Record<string, string>;
    const found: Members | undefined = (await appliances.list({})).find((one) => one.appliance_id === id);
    if (found === undefined) throw notFound(`appliance_id: there is no appliance ${id}.`);
    const more = added.of(id!);
    return more.length === 0 ? found : { ...found, versions: [...((found['versions'] ?? []) as Members[]), ...more] };
  };
  return [
    route('GET /v3/appliances', (request) => {
      added.forget();
      return appliances.list(request.query);
    }),
    route('GET /v3/appliances/{appliance_id}', find),
    route('POST /v3/appliances/{appliance_id}/version', async (request) => {
      const { name, images, idlepc } = request.body;
      const appliance = await find(request);
      const versions = (appliance['versions'] ?? []) as Members[];
      if (images === undefined || versions.length === 0)
        throw new WrongRequest('images: an appliance with versions, and the files of the new one, are needed.');
      if (versions.some((one) => one['name'] === name)) throw conflict(`name: there is a version "${name}" already.`);
      added.add(String(appliance['appliance_id']), { name, images, ...(idlepc !== undefined && { idlepc }) });
      return find(request);
    }),
    route('POST /v3/appliances/{appliance_id}/install', async (request) => {
      const { versions = [], appliance_id: id } = await find(request);
      const { version } = request.query;
      const names = (versions as Members[]).map(({ name }) => name);
      if (names.length > 0 && version === undefined) throw new WrongRequest('version: say which one to install.');
      if (names.length === 0 && version !== undefined) throw new WrongRequest('version: this appliance has none.');
      if (version !== undefined && !names.includes(version))
        throw notFound(`version: there is no version "${version}".`);
      const own = added.of(String(id)).find(({ name }) => name === version);
      await appliances.makeTemplate(String(id), { version, compute_id: 'local' }, request.signal, own);
      return undefined;
    }),
  ];
}
