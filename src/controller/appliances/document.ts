// Appliance documents (`.gns3a`, registry versions 4 to 8): the members that the server reads, and generated texts.
import { type ApplianceEmulator, EMULATORS } from '../../api/routes/appliances.ts';
import { isObject } from '../../store/json.ts';

/** How to identify and download a file that a version needs. */
export interface ApplianceImage {
  filename: string;
  version?: string;
  /** MD5, 32 hexadecimal digits. */
  md5sum: string;
  /** Bytes. */
  filesize?: number;
  download_url?: string;
  direct_download_url?: string;
}

export interface ApplianceVersion {
  name: string;
  /** Node setting (`hda_disk_image`, `image`) -> `filename` of its image. */
  images: Record<string, string>;
  /** Routers: the idle-PC value of this image. */
  idlepc?: string;
}

/** A document from any source: unknown members are passed on unchanged. */
export interface ApplianceDocument extends Record<string, unknown> {
  appliance_id: string;
  name: string;
}

export interface Appliance {
  id: string;
  /** Whether it comes with the server. */
  builtin: boolean;
  document: ApplianceDocument;
}

const EMULATOR_NAMES: Readonly<Record<ApplianceEmulator, string>> = {
  qemu: 'QEMU',
  docker: 'Docker',
  dynamips: 'Dynamips',
  iou: 'IOU',
};

const CATEGORY_NAMES: Readonly<Record<string, string>> = {
  router: 'A router',
  multilayer_switch: 'A multilayer switch',
  firewall: 'A firewall',
  guest: 'A guest',
};

/** The emulator and its settings; undefined for an unknown emulator. */
export function settingsOf(
  document: ApplianceDocument,
): { emulator: ApplianceEmulator; settings: Record<string, unknown> } | undefined {
  for (const emulator of EMULATORS) {
    const settings = document[emulator];
    if (isObject(settings)) return { emulator, settings };
  }
  // Registry version 8 has a list of settings; the default entry is used.
  const list = Array.isArray(document['settings']) ? document['settings'].filter(isObject) : [];
  const chosen = list.find((entry) => entry['default'] === true) ?? list[0];
  const emulator = EMULATORS.find((known) => known === chosen?.['template_type']);
  const settings = chosen?.['template_properties'];
  return emulator && isObject(settings) ? { emulator, settings } : undefined;
}

/** The readable versions, in document order: usually newest first. */
export function versionsOf(document: ApplianceDocument): ApplianceVersion[] {
  const list = Array.isArray(document['versions']) ? document['versions'].filter(isObject) : [];
  return list.flatMap(({ name, images, idlepc }) => {
    if (typeof name !== 'string' || !isObject(images)) return [];
    const files = Object.entries(images).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
    return [{ name, images: Object.fromEntries(files), ...(typeof idlepc === 'string' ? { idlepc } : {}) }];
  });
}

/** The images of a document that have a name and a checksum. */
export function imagesOf(document: ApplianceDocument): ApplianceImage[] {
  const list = Array.isArray(document['images']) ? document['images'].filter(isObject) : [];
  return list.filter(
    (image) => typeof image['filename'] === 'string' && typeof image['md5sum'] === 'string',
  ) as unknown as ApplianceImage[];
}

/** Describes in a sentence or two the appliance and its requirements, from its facts alone. */
export function describe(document: ApplianceDocument): string {
  const { product_name: product, vendor_name: vendor, category } = document;
  const kind = CATEGORY_NAMES[String(category)] ?? 'A device';
  const maker = typeof vendor === 'string' && vendor !== '' ? ` of ${vendor}` : '';
  const what = typeof product === 'string' && product !== '' && product !== document.name ? ` (${product})` : '';
  const found = settingsOf(document);
  if (!found) return `${kind}${maker}${what}.`;
  return `${[`${kind}${maker}${what} that runs in ${EMULATOR_NAMES[found.emulator]}`, ...needs(found.settings)].join(', ')}.`;
}

function needs(settings: Record<string, unknown>): string[] {
  const { ram, cpus, adapters, kvm } = settings;
  return [
    ...(typeof ram === 'number' ? [`with ${ram} MB of memory`] : []),
    ...(typeof cpus === 'number' && cpus > 1 ? [`on ${cpus} CPUs`] : []),
    ...(typeof adapters === 'number' ? [`with ${adapters} ${adapters === 1 ? 'adapter' : 'adapters'}`] : []),
    ...(kvm === 'require' ? ['on a host with KVM'] : []),
  ];
}

/** How to log in, if the document says so. */
export function usageOf({ usage, default_username: user, default_password: password }: ApplianceDocument): string {
  if (typeof usage === 'string') return usage;
  if (typeof user !== 'string') return '';
  return typeof password === 'string' ? `Log in as ${user} with the password ${password}.` : `Log in as ${user}.`;
}
