// An appliance as `.gns3a` files describe it: what the server itself reads of it, and the words that it adds. The format is of
// its registry versions 4 to 8.

/** How one file that a version needs can be known and had. */
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
  /** Setting of the node (`hda_disk_image`, `image`) -> `filename` of the image that it takes. */
  images: Record<string, string>;
  /** Routers: the idle value of this image. */
  idlepc?: string;
}

/** A document of anybody's: members beside these are passed on as they are. */
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

/** Emulators that an appliance can be for, as the members of the documents are called. */
export const EMULATORS = ['qemu', 'docker', 'dynamips', 'iou'] as const;
export type ApplianceEmulator = (typeof EMULATORS)[number];

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

/** The emulator and its settings; undefined if the document has none of those that are known. */
export function settingsOf(
  document: ApplianceDocument,
): { emulator: ApplianceEmulator; settings: Record<string, unknown> } | undefined {
  for (const emulator of EMULATORS) {
    const settings = document[emulator];
    if (isObject(settings)) return { emulator, settings };
  }
  // Registry version 8 has the settings in a list; the default one counts.
  const list = Array.isArray(document['settings']) ? document['settings'].filter(isObject) : [];
  const chosen = list.find((entry) => entry['default'] === true) ?? list[0];
  const emulator = EMULATORS.find((known) => known === chosen?.['template_type']);
  const settings = chosen?.['template_properties'];
  return emulator && isObject(settings) ? { emulator, settings } : undefined;
}

/** The versions that can be understood, in the order of the document: the newest first, as a rule. */
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

/** A sentence or two on what the appliance is and what it asks of the host, from its facts alone. */
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

/** How to log in, where the document says it. */
export function usageOf({ usage, default_username: user, default_password: password }: ApplianceDocument): string {
  if (typeof usage === 'string') return usage;
  if (typeof user !== 'string') return '';
  return typeof password === 'string' ? `Log in as ${user} with the password ${password}.` : `Log in as ${user}.`;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
