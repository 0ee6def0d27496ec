// Appliances over HTTP: the list as in release 2.2.57; as extensions the appliances whose images a compute has, and templates made from them.
import { posix } from 'node:path';
import type * as v from 'valibot';
import { NODE_KINDS } from '../../api/kinds/kinds.ts';
import { APPLIANCE_ROUTES, EMULATORS, type Match, type TemplateOfAppliance } from '../../api/routes/appliances.ts';
import { TemplateCreate } from '../../api/routes/templates.ts';
import { conflict, invalid, notFound } from '../../failures.ts';
import { type Route, routesOf } from '../../http/app/route.ts';
import { validated } from '../../http/app/validation.ts';
import { ComputeRefusal, mustBeList } from '../computes/answers.ts';
import type { Compute } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import { PASSED_ON_LIMIT_MS } from '../computes/limits.ts';
import { USABLE_IMAGES } from '../computes/missing-images.ts';
import { defaultSymbols } from '../symbols/catalogue.ts';
import type { Symbols } from '../symbols/symbols.ts';
import type { Templates } from '../templates/templates.ts';
import type { Appliances } from './appliances.ts';
import { type ApplianceDocument, type ApplianceVersion, settingsOf } from './document.ts';
import { matchesOf, type PresentImage, type PresentImages } from './matching.ts';
import { templateOf } from './template.ts';

const { route } = routesOf(APPLIANCE_ROUTES);

export interface ApplianceRoutesOptions {
  appliances: Appliances;
  symbols: Symbols;
  templates: Templates;
  computes: Computes;
}

/** The theme if the request names none. */
const DEFAULT_THEME = 'Classic';

/** What can be done with appliances, for the routes of every dialect. */
export function applianceVerbs({ appliances, symbols, templates, computes }: ApplianceRoutesOptions) {
  const symbolOf = (document: Readonly<Record<string, unknown>>, theme: Readonly<Record<string, string>>): string => {
    const own = document['symbol'];
    if (typeof own === 'string' && !own.startsWith(':/symbols/') && symbols.has(own)) return own;
    const category = String(document['category']);
    const guest = NODE_KINDS.find(({ type, template }) => type in document && template.category === 'guest');
    return theme[category === 'guest' ? (guest?.template.symbol ?? 'computer') : category] ?? theme['computer']!;
  };

  return {
    /** The documents with their symbols. @throws Failure */
    async list({ update, symbol_theme: name = DEFAULT_THEME }: Readonly<Record<string, string>>) {
      if (update === 'yes') {
        throw conflict(
          `update: this server fetches nothing from the Internet; put .gns3a files into ${appliances.directory}.`,
        );
      }
      const theme = defaultSymbols()[name];
      if (!theme) throw notFound(`symbol_theme: there is no theme "${name}".`);
      return (await appliances.list()).map(({ id, builtin, document }) => ({
        ...document,
        appliance_id: id,
        symbol: symbolOf(document, theme),
        builtin,
      }));
    },

    /** The appliances whose images a compute has, complete ones first. */
    async matches(
      { compute_id: computeId = 'local', all, complete: only }: Readonly<Record<string, string>>,
      signal: AbortSignal,
    ) {
      const present = await presentImages(computes.answering(computeId), signal);
      const theme = defaultSymbols()[DEFAULT_THEME]!;
      const matches = (await appliances.list())
        .flatMap((appliance) => matchesOf(appliance, present, symbolOf(appliance.document, theme)))
        .filter(
          ({ complete, images }) => complete || all === 'yes' || (only !== 'yes' && images.some(({ path }) => path)),
        );
      return [...matches.filter(({ complete }) => complete), ...matches.filter(({ complete }) => !complete)];
    },

    /**
     * @param added a version that is not in the document, whose files are known by their names
     * @throws Failure
     */
    async makeTemplate(
      id: string,
      wanted: v.InferOutput<typeof TemplateOfAppliance>,
      signal: AbortSignal,
      added?: ApplianceVersion,
    ) {
      const found = await appliances.get(id);
      const present = await presentImages(computes.answering(wanted.compute_id), signal);
      const appliance = added ? { ...found, document: withVersion(found.document, added, present) } : found;
      const symbol = symbolOf(appliance.document, defaultSymbols()[DEFAULT_THEME]!);
      const match = chosen(matchesOf(appliance, present, symbol), wanted.version);
      const template = templateOf(appliance.document, match, { ...wanted, symbol });
      return templates.create(validated(TemplateCreate, template));
    },
  };
}

export type ApplianceVerbs = ReturnType<typeof applianceVerbs>;

export function applianceRoutes(verbs: ApplianceVerbs): Route[] {
  return [
    // Objects of release 2.2.57 have no identifier.
    route('GET /v2/appliances', async ({ query }) =>
      (await verbs.list(query)).map(({ appliance_id: _id, ...appliance }) => appliance),
    ),

    route('GET /v2/appliances/matches', ({ query, signal }) => verbs.matches(query, signal)),

    route('POST /v2/appliances/{appliance_id}/template', ({ params, body, signal }) =>
      verbs.makeTemplate(params.appliance_id, body, signal),
    ),
  ];
}

/** @throws Failure `not-found` if one of its files is missing */
function withVersion(document: ApplianceDocument, added: ApplianceVersion, present: PresentImages): ApplianceDocument {
  const { emulator } = settingsOf(document) ?? {};
  const images = Object.values(added.images).map((filename) => {
    const image = emulator && present[emulator].find(({ path }) => posix.basename(path) === filename);
    if (!image) throw notFound(`version: the image ${filename} of "${added.name}" is missing.`);
    return { filename, md5sum: image.md5sum };
  });
  return { ...document, versions: [added], images };
}

/**
 * The requested version, or the first complete one.
 * @throws Failure `invalid` for an unknown version, `conflict` with the missing files for an incomplete one
 */
function chosen(matches: readonly Match[], version: string | undefined): Match {
  const [first] = matches;
  if (!first) throw conflict('appliance_id: this appliance names no version that can be made a template of.');
  if (version !== undefined && !matches.some((match) => match.version === version)) {
    const known = matches.map((match) => match.version).join(', ');
    throw invalid(`version: there is no version "${version}"; known are ${known}.`);
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
  throw conflict(
    `version: ${first.name} ${(match ?? first).version} is missing ${told.join('; ')}. Upload the file to the compute, under any name.`,
  );
}

/** The images of a compute by emulator; none for emulators that it does not know. */
async function presentImages(compute: Compute, signal: AbortSignal): Promise<PresentImages> {
  const entries = await Promise.all(
    EMULATORS.map(async (emulator): Promise<[string, PresentImage[]]> => {
      const path = `/${emulator}/${USABLE_IMAGES}`;
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
