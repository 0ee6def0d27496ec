// Finds the appliances whose images a compute has. Files are identified by checksum, not by name.
import type { ApplianceEmulator, Match, MatchedImage } from '../../api/routes/appliances.ts';
import { type Appliance, type ApplianceVersion, imagesOf, settingsOf, versionsOf } from './document.ts';

export interface PresentImage {
  /**
   * As in a node's settings: relative to the emulator's folder, or absolute. For a container image its name and tag.
   */
  path: string;
  /** MD5; container images have none. */
  md5sum?: string;
}

export type PresentImages = Readonly<Record<ApplianceEmulator, readonly PresentImage[]>>;

/** All versions of an appliance with their files. Versions without files are left out, except for containers. */
export function matchesOf({ id, builtin, document }: Appliance, present: PresentImages, symbol: string): Match[] {
  const found = settingsOf(document);
  if (!found) return [];
  const { emulator, settings } = found;
  const common = {
    appliance_id: id,
    name: document.name,
    symbol,
    vendor: typeof document['vendor_name'] === 'string' ? document['vendor_name'] : '',
    category: String(document['category'] ?? ''),
    emulator,
    builtin,
  };
  if (emulator === 'docker') {
    const image = containerImage(String(settings['image']), present.docker);
    return [{ ...common, version: null, complete: image.path !== null, images: [image] }];
  }
  const byChecksum = new Map(present[emulator].map((image) => [image.md5sum?.toLowerCase(), image.path]));
  const known = imagesOf(document);
  return versionsOf(document).map((version) => {
    const images = Object.entries(version.images).map(([setting, filename]) => {
      const candidates = known.filter((image) => image.filename === filename);
      const there = candidates.find(({ md5sum }) => byChecksum.has(md5sum.toLowerCase()));
      const image = there ?? wanted(candidates, version);
      return {
        setting,
        filename,
        md5sum: image?.md5sum ?? null,
        filesize: image?.filesize ?? null,
        download_url: image?.direct_download_url ?? image?.download_url ?? null,
        path: (there && byChecksum.get(there.md5sum.toLowerCase())) ?? null,
      };
    });
    return { ...common, version: version.name, complete: images.every(({ path }) => path !== null), images };
  });
}

/** Of several files with the same name, the one of this version. */
function wanted<Image extends { version?: string }>(candidates: Image[], version: ApplianceVersion): Image | undefined {
  return candidates.find((image) => image.version === version.name) ?? candidates[0];
}

function containerImage(name: string, present: readonly PresentImage[]): MatchedImage {
  const tagged = name.slice(name.lastIndexOf('/') + 1).includes(':') ? name : `${name}:latest`;
  const there = present.some(({ path }) => path === tagged || path === name);
  return {
    setting: 'image',
    filename: name,
    md5sum: null,
    filesize: null,
    download_url: null,
    path: there ? name : null,
  };
}
