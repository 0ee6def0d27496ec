// Uploads images that are missing on a compute when a node needs them: from this server (as in release 2.2.57), or from another host of
// the cluster.
import { posix } from 'node:path';
import * as v from 'valibot';
import { nodeKind } from '../../api/kinds/kinds.ts';
import type { NodeType } from '../../api/vocabulary.ts';
import { log } from '../../host/log.ts';
import type { Announcer } from '../events.ts';
import { ComputeRefusal } from './answers.ts';
import type { Compute } from './compute.ts';
import type { Computes } from './computes.ts';
import { type ImageTransfer, transferImage } from './image-transfer.ts';
import { PASSED_ON_LIMIT_MS } from './limits.ts';

/** The most missing images per node: a machine has four disks, a CD and a kernel. */
const ROUNDS = 6;

export interface Need {
  compute: Compute;
  type: NodeType;
  projectId: string;
  /** MD5 of the node's images, as far as they are known: of two images with the name the one with such a checksum is sent. */
  checksums?: readonly string[];
}

const Images = v.array(v.object({ filename: v.string(), filesize: v.number(), md5sum: v.string() }));
type Image = v.InferOutput<typeof Images>[number];

/** Route of a compute, below an emulator, for all images that nodes can use. Computes of the release answer only those of the list. */
export const USABLE_IMAGES = 'images?unlisted=yes';

/** The images of a kind of node on a host; empty if it does not say. */
export async function imagesOf(host: Compute, type: NodeType): Promise<Image[]> {
  const list = await host.get(`/${type}/${USABLE_IMAGES}`, { limit: PASSED_ON_LIMIT_MS }).catch(() => undefined);
  const images = v.safeParse(Images, list);
  return images.success ? images.output : [];
}

interface Wanted {
  to: Compute;
  type: NodeType;
  name: string;
  checksums: readonly string[] | undefined;
  /** Hosts that cannot send it. */
  unable?: ReadonlySet<Compute>;
}

interface Found {
  from: Compute;
  image: Image;
}

export class MissingImages {
  readonly #computes: Computes;
  readonly #announcer: Announcer;
  readonly #transfers = new Map<string, Promise<boolean>>();

  constructor({ computes, announcer }: { computes: Computes; announcer: Announcer }) {
    this.#computes = computes;
    this.#announcer = announcer;
  }

  /**
   * Runs `work`, and again after each upload of an image that is missing on the compute.
   * @throws the error of `work` if no host has the image either
   */
  async supply<T>(need: Need, work: () => Promise<T>): Promise<T> {
    const sent = new Set<string>();
    for (;;) {
      try {
        return await work();
      } catch (error) {
        const missing = error instanceof ComputeRefusal ? error.missingImage : undefined;
        if (missing === undefined || sent.has(missing) || sent.size === ROUNDS) throw error;
        if (!(await this.#supply(need, missing))) throw error;
        sent.add(missing);
      }
    }
  }

  /** Whether a host had the image and has sent it. Nodes that need it at the same time share one transfer. */
  async #supply(need: Need, missing: string): Promise<boolean> {
    const { compute, type } = need;
    const name = posix.basename(missing.replaceAll('\\', '/'));
    if (nodeKind(type).images === undefined || name === '') return false;
    return this.#once(compute, type, name, () => this.#transfer(need, name));
  }

  /** Sends an image of one host to another one that has no image of its name, without being asked. */
  copy({ from, to, type, image }: Found & Pick<ImageTransfer, 'to' | 'type'>): Promise<boolean> {
    return this.#once(to, type, image.filename, () => this.#send({ from, to, type, image }).then(() => true));
  }

  #once(to: Compute, type: NodeType, name: string, send: () => Promise<boolean>): Promise<boolean> {
    const key = [to.id, type, name].join('\n');
    const known = this.#transfers.get(key);
    if (known) return known;
    const transfer = send().finally(() => this.#transfers.delete(key));
    this.#transfers.set(key, transfer);
    return transfer;
  }

  async #transfer({ compute: to, type, projectId, checksums }: Need, name: string): Promise<boolean> {
    const found = await this.#find({ to, type, name, checksums });
    if (!found) return false;
    const { from, image } = found;
    const origin = from.id === 'local' ? '' : ` from ${from.name}`;
    this.#tell(projectId, `The compute ${to.name} misses the image ${name}: uploading it${origin}.`);
    await this.#send({ from, to, type, image });
    this.#tell(projectId, `The image ${name} is on the compute ${to.name} now.`);
    return true;
  }

  /** If the host that sends it dies, another one with the same image goes on. */
  #send({ from, to, type, image }: Found & Pick<ImageTransfer, 'to' | 'type'>): Promise<void> {
    const another = async (unable: ReadonlySet<Compute>): Promise<Compute | undefined> => {
      const found = await this.#find({ to, type, name: image.filename, checksums: [image.md5sum], unable });
      return found?.image.md5sum === image.md5sum ? found.from : undefined;
    };
    return transferImage({ from, to, type, image, another });
  }

  /**
   * Looks for the image on this host, and for hosts of the cluster on the others, too: the first one that has it. Whatever path a compute
   * names, only images leave a host.
   */
  async #find({ to, type, name, checksums = [], unable }: Wanted): Promise<Found | undefined> {
    const hosts = this.#computes
      .list()
      .filter(
        (host) =>
          host !== to && !unable?.has(host) && (host.id === 'local' || (host.connected && host.place && to.place)),
      )
      .toSorted((a, b) => Number(b.id === 'local') - Number(a.id === 'local'));
    const isWanted = ({ image }: Found): boolean => checksums.length === 0 || checksums.includes(image.md5sum);
    // A host that hangs does not keep the others from sending it.
    const asked = hosts.map(async (from): Promise<Found | undefined> => {
      const image = (await imagesOf(from, type)).find(({ filename }) => filename === name);
      return image && { from, image };
    });
    const wanted = asked.map(async (answer) => {
      const found = await answer;
      return found && isWanted(found) ? found : Promise.reject(new Error('not there'));
    });
    return Promise.any(wanted).catch(async () => (await Promise.all(asked)).find((found) => found !== undefined));
  }

  #tell(projectId: string, message: string): void {
    log.info(message, { project: projectId });
    this.#announcer.project.emit('log.info', { message }, projectId);
  }
}
