// Appliances: documents that describe devices and how to make templates of them (as in release 2.2.57).
// None are shipped; those of the custom folder are offered.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure, messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import { readRegularFile } from '../../host/regular-file.ts';
import { type Route, route } from '../../http/route.ts';
import { parseJsonBounded } from '../../store/json.ts';
import { NODE_KINDS } from '../../store/node-kinds/kinds.ts';
import { defaultSymbols } from '../symbols/catalogue.ts';

type Document = Record<string, unknown>;

/** A hundred times what the longest known one has. */
const LARGEST_BYTES = 4 * 1024 * 1024;
const ENDINGS = ['.gns3a', '.gns3appliance'];

async function documents(directory: string): Promise<Document[]> {
  const names = (await readdir(directory).catch(() => [])).filter((name) =>
    ENDINGS.some((ending) => name.endsWith(ending)),
  );
  const read = async (name: string): Promise<Document | undefined> => {
    try {
      const document = parseJsonBounded(
        (await readRegularFile(join(directory, name), LARGEST_BYTES, name)).toString('utf8'),
      );
      if (typeof document === 'object' && document !== null && 'name' in document) return document as Document;
      throw new Error('it has no name');
    } catch (error) {
      log.warn('an appliance cannot be read', { file: join(directory, name), reason: messageOf(error) });
      return undefined;
    }
  };
  const found = await Promise.all(names.sort().map(read));
  return found.filter((document) => document !== undefined && document['status'] !== 'broken') as Document[];
}

/** The symbol of an appliance that has none of its own: the theme's for its category. */
function symbolOf(document: Document, theme: Readonly<Record<string, string>>): unknown {
  const own = document['symbol'];
  if (typeof own === 'string' && !own.startsWith(':/symbols/')) return own;
  const category = String(document['category']);
  const guest = NODE_KINDS.find(({ type, template }) => type in document && template.category === 'guest');
  return theme[category === 'guest' ? (guest?.template.symbol ?? 'computer') : category] ?? own ?? null;
}

export function applianceRoutes({ directory }: { directory: string }): Route[] {
  return [
    route('GET /v2/appliances', {}, async ({ query }) => {
      if (query['update'] === 'yes') {
        throw new Failure(
          'conflict',
          `update: this server fetches nothing from the Internet; put .gns3a files into ${directory}.`,
        );
      }
      const name = query['symbol_theme'] ?? 'Classic';
      const theme = defaultSymbols()[name];
      if (!theme) throw new Failure('not-found', `symbol_theme: there is no theme "${name}".`);
      const found = await documents(directory);
      return found.map(({ appliance_id: _id, ...document }) => ({
        ...document,
        symbol: symbolOf(document, theme),
        builtin: false,
      }));
    }),
  ];
}
