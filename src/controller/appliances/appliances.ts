// Appliances: documents that describe devices and how to make templates of them. The built-in catalogue is listed together with the user's folder.
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { messageOf, notFound } from '../../failures.ts';
import { asset } from '../../host/files/assets.ts';
import { readRegularFile } from '../../host/files/regular-file.ts';
import { log } from '../../host/log.ts';
import { eachOf } from '../../host/values/each-of.ts';
import { isObject, parseJsonBounded } from '../../store/json.ts';
import { type Appliance, type ApplianceDocument, describe, usageOf } from './document.ts';

export interface AppliancesOptions {
  /** The user's folder. */
  directory: string;
  /** `install_builtin_appliances` of the configuration. */
  builtins: boolean;
}

/** A hundred times the longest known document. */
const LARGEST_BYTES = 4 * 1024 * 1024;
const FILES_AT_ONCE = 4;
const ENDINGS = ['.gns3a', '.gns3appliance'];
/** The namespace for ids derived from URLs (RFC 9562, appendix C). */
const URL_NAMESPACE = Buffer.from('6ba7b8119dad11d180b400c04fd430c8', 'hex');

export class Appliances {
  readonly directory: string;
  readonly #builtins: boolean;

  constructor({ directory, builtins }: AppliancesOptions) {
    this.directory = directory;
    this.#builtins = builtins;
  }

  /**
   * Built-in appliances first, each part sorted; appliances marked as broken are left out. Not cached: requests are
   * rare.
   */
  async list(): Promise<Appliance[]> {
    const custom = await this.#custom();
    return [...(this.#builtins ? catalogue() : []), ...custom].filter(
      ({ document }) => document['status'] !== 'broken',
    );
  }

  /** @throws Failure `not-found` */
  async get(id: string): Promise<Appliance> {
    const found = (await this.list()).find((appliance) => appliance.id === id);
    if (found) return found;
    throw notFound(`appliance_id: there is no appliance ${id}; GET /v2/appliances/matches lists the ids.`);
  }

  async #custom(): Promise<Appliance[]> {
    const names = (await readdir(this.directory).catch(() => [])).filter((name) =>
      ENDINGS.some((ending) => name.endsWith(ending)),
    );
    const found = new Map<string, Appliance>();
    await eachOf(names, FILES_AT_ONCE, async (name) => {
      const file = join(this.directory, name);
      try {
        const document = parseJsonBounded((await readRegularFile(file, LARGEST_BYTES, name)).toString('utf8'));
        if (!isObject(document) || typeof document['name'] !== 'string') throw new Error('it has no name');
        const id = idOfFile(file);
        found.set(name, { id, builtin: false, document: { ...document, appliance_id: id, name: document['name'] } });
      } catch (error) {
        log.warn('an appliance cannot be read', { file, reason: messageOf(error) });
      }
    });
    return names
      .sort()
      .map((name) => found.get(name))
      .filter((appliance) => appliance !== undefined);
  }
}

/** The built-in facts as documents for clients; the members beyond the facts are generated. */
function catalogue(): Appliance[] {
  const facts = JSON.parse(asset('appliances/catalogue.json')!.toString('utf8')) as ApplianceDocument[];
  return facts.map((document) => ({
    id: document.appliance_id,
    builtin: true,
    document: {
      ...document,
      description: describe(document),
      usage: usageOf(document),
      maintainer: 'Labwire',
      maintainer_email: 'labwire@localhost',
    },
  }));
}

/** A file always has the same id: a UUID of version 3 of its URL (RFC 9562, section 5.3). */
function idOfFile(file: string): string {
  const bytes = createHash('md5').update(URL_NAMESPACE).update(pathToFileURL(file).href).digest();
  bytes[6] = (bytes[6]! & 0x0f) | 0x30;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
