// Appliances over HTTP: the list as in release 2.2.57; as extensions the appliances whose images a compute has, and templates made from them.
import * as v from 'valibot';
import { NODE_KINDS } from '../../api/kinds/kinds.ts';
import { Failure } from '../../failures.ts';
import { type Route, route } from '../../http/app/route.ts';
import { validated } from '../../http/app/validation.ts';
import { Text } from '../../store/vocabulary.ts';
import { ComputeRefusal, mustBeList } from '../computes/answers.ts';
import type { Compute } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import { PASSED_ON_LIMIT_MS } from '../computes/limits.ts';
import { defaultSymbols } from '../symbols/catalogue.ts';
import type { Symbols } from '../symbols/symbols.ts';
import { TemplateCreate } from '../templates/schema.ts';
import type { Templates } from '../templates/templates.ts';
import type { Appliances } from './appliances.ts';
import { EMULATORS } from './document.ts';
import { type Match, matchesOf, type PresentImage, type PresentImages } from './matching.ts';
import { templateOf } from './template.ts';

export interface ApplianceRoutesOptions {
  appliances: Appliances;
  symbols: Symbols;
  templates: Templates;
  computes: Computes;
}

/** The theme if the request names none. */
const DEFAULT_THEME = 'Classic';

const TemplateOfAppliance = v.strictObject({
  version: v.optional(Text),
  compute_id: v.optional(Text, 'local'),
  name: v.optional(Text),
});

export function applianceRoutes({ appliances, symbols, templates, computes }: ApplianceRoutesOptions): Route[] {
  const symbolOf = (document: Readonly<Record<string, unknown>>, theme: Readonly<Record<string, string>>): string => {
    const own = document['symbol'];
    if (typeof own === 'string' && !own.startsWith(':/symbols/') && symbols.has(own)) return own;
    const category = String(document['category']);
    const guest = NODE_KINDS.find(({ type, template }) => type in document && template.category === 'guest');
    return theme[category === 'guest' ? (guest?.template.symbol ?? 'computer') : category] ?? theme['computer']!;
  };

  return [
    route('GET /v2/appliances', {}, async ({ query }) => {
      if (query['update'] === 'yes') {
        throw new Failure(
          'conflict',
          `update: this server fetches nothing from the Internet; put .gns3a files into ${appliances.directory}.`,
        );
      }
      const name = query['symbol_theme'] ?? DEFAULT_THEME;
      const theme = defaultSymbols()[name];
      if (!theme) throw new Failure('not-found', `symbol_theme: there is no theme "${name}".`);
      return (await appliances.list()).map(({ builtin, document: { appliance_id: _, ...document } }) => ({
        ...document,
        symbol: symbolOf({ ...document, appliance_id: _, name: document.name }, theme),
        builtin,
      }));
    }),

    route('GET /v2/appliances/matches', {}, async ({ query, signal }) => {
      const present = await presentImages(computes.get(query['compute_id'] ?? 'local'), signal);
      const matches = (await appliances.list())
        .flatMap((appliance) => matchesOf(appliance, present))
        .filter(
          ({ complete, images }) =>
            complete || query['all'] === 'yes' || (query['complete'] !== 'yes' && images.some(({ path }) => path)),
        );
      return [...matches.filter(({ complete }) => complete), ...matches.filter(({ complete }) => !complete)];
    }),

    route(
      'POST /v2/appliances/{appliance_id}/template',
      { body: TemplateOfAppliance, status: 201 },
      async ({ params, body, signal }) => {
        const appliance = await appliances.get(params.appliance_id);
        const present = await presentImages(computes.get(body.compute_id), signal);
        const match = chosen(matchesOf(appliance, present), body.version);
        const symbol = symbolOf(appliance.document, defaultSymbols()[DEFAULT_THEME]!);
        const template = templateOf(appliance.document, match, { ...body, symbol });
        return templates.create(validated(TemplateCreate, template));
      },
    ),
  ];
}

/**
 * The requested version, or the first complete one.
 * @throws Failure `invalid` for an unknown version, `conflict` with the missing files for an incomplete one
 */
function chosen(matches: readonly Match[], version: string | undefined): Match {
  const [first] = matches;
  if (!first)
    throw new Failure('conflict', 'appliance_id: this appliance names no version that can be made a template of.');
  if (version !== undefined && !matches.some((match) => match.version === version)) {
    const known = matches.map((match) => match.version).join(', ');
    throw new Failure('invalid', `version: there is no version "${version}"; known are ${known}.`);
  }
  const match = matches.find((candidate) =>
    version === undefined ? candidate.complete : candidate.version === version,
  );
  if (match?.complete) return match;
  // A container's image is pulled at its first use.
  if (first.version === null) {
    return { ...first, images: first.images.map((image) => ({ ...image, path: image.filename })) };
  }
  const missing = (match ?? first).images.filter(({ path }) => path === null);
  const told = missing.map(
    ({ filename, md5sum, download_url: url }) =>
      `${filename}${md5sum === null ? '' : ` (MD5 ${md5sum})`}${url === null ? '' : ` from ${url}`}`,
  );
  throw new Failure(
    'conflict',
    `version: ${first.name} ${(match ?? first).version} is missing ${told.join('; ')}. Upload the file to the compute, under any name.`,
  );
}

/** The images of a compute by emulator; none for emulators that it does not know. */
async function presentImages(compute: Compute, signal: AbortSignal): Promise<PresentImages> {
  const entries = await Promise.all(
    EMULATORS.map(async (emulator): Promise<[string, PresentImage[]]> => {
      const path = `/${emulator}/images`;
      try {
        const list = mustBeList(await compute.get(path, { limit: PASSED_ON_LIMIT_MS, signal }), `GET ${path}`);
        return [emulator, list.map(presentImage)];
      } catch (error) {
        // The emulator is unknown there or not installed.
        if (error instanceof ComputeRefusal) return [emulator, []];
        throw error;
      }
    }),
  );
  return Object.fromEntries(entries) as Record<keyof PresentImages, PresentImage[]>;
}

function presentImage({ path, image, filename, md5sum }: Record<string, unknown>): PresentImage {
  const name = String(path ?? image ?? filename);
  return typeof md5sum === 'string' ? { path: name, md5sum } : { path: name };
}
