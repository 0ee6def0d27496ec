// Which appliances the images of a compute make complete: files are known by their checksums, whatever they are called.
import {
  type Appliance,
  type ApplianceEmulator,
  type ApplianceVersion,
  imagesOf,
  settingsOf,
  versionsOf,
} from './document.ts';

/** An image that a compute has. */
export interface PresentImage {
  /** As a node names it: relative to the emulator's folder, or absolute. Of a container image its name and tag. */
  path: string;
  /** MD5; container images have none. */
  md5sum?: string;
}

export type PresentImages = Readonly<Record<ApplianceEmulator, readonly PresentImage[]>>;

/** One file of a version, and where the compute has it. */
export interface MatchedImage {
  /** The setting that takes it: `hda_disk_image`, `image`. */
  setting: string;
  filename: string;
  md5sum: string | null;
  /** Bytes. */
  filesize: number | null;
  download_url: string | null;
  /** As nodes name it; null while it is missing. */
  path: string | null;
}

export interface Match {
  appliance_id: string;
  name: string;
  category: unknown;
  emulator: ApplianceEmulator;
  builtin: boolean;
  /** Null for containers, whose image says it. */
  version: string | null;
  /** Whether nothing is missing: a template can be made. */
  complete: boolean;
  images: MatchedImage[];
}

/** All versions of an appliance, each with its files; those without any file are left out, but for containers. */
export function matchesOf({ id, builtin, document }: Appliance, present: PresentImages): Match[] {
  const found = settingsOf(document);
  if (!found) return [];
  const { emulator, settings } = found;
  const common = { appliance_id: id, name: document.name, category: document['category'], emulator, builtin };
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

/** Of several files of one name the one of this version. */
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
