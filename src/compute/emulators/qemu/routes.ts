// /v2/compute/qemu: QEMU's programs on this host and the disk images that they create (as in release 2.2.57).

import { DiskResize, LongerDisk, NewDisk } from '../../../api/kinds/qemu.ts';
import { type Route, route } from '../../../http/app/route.ts';
import type { FindNode } from '../../nodes/kind.ts';
import { DiskImages, type DiskImagesOptions } from './disk-images.ts';
import type { QemuNode } from './node.ts';
import { acceleratedPlatforms, diskTools, emulators } from './programs.ts';
import { BinaryFilter, DiskImageCreate, DiskImageUpdate } from './schema.ts';

const DISK_TOOL = 'qemu-img';

/** Of routes that write an image and answer nothing. */
const WRITES_IMAGE = { errors: [404, 507], answerType: '' };

export function qemuRoutes(options: DiskImagesOptions): Route[] {
  const disks = new DiskImages(options);
  return [
    route('GET /v2/compute/qemu/binaries', { body: BinaryFilter, summary: 'List emulators of QEMU' }, ({ body }) =>
      emulators(body.archs),
    ),
    route('GET /v2/compute/qemu/img-binaries', { summary: 'List qemu-img programs' }, () => diskTools()),
    route('GET /v2/compute/qemu/capabilities', { summary: 'List guests that KVM runs on this host' }, async () => ({
      kvm: await acceleratedPlatforms(),
    })),
    route(
      'POST /v2/compute/qemu/img',
      { body: DiskImageCreate, status: 201, summary: 'Create a disk image', ...WRITES_IMAGE },
      ({ body, signal }) => disks.create(body, signal),
    ),
    route(
      'PUT /v2/compute/qemu/img',
      { body: DiskImageUpdate, status: 201, summary: 'Extend a disk image', ...WRITES_IMAGE },
      ({ body, signal }) => disks.extend(body, signal),
    ),
  ];
}

export function machineRoutes(find: FindNode<QemuNode>): Route[] {
  const node = '/v2/compute/projects/{project_id}/qemu/nodes/{node_id}';
  const disk = `${node}/disks/{disk_name}` as const;
  return [
    route(
      `POST ${node}/resize_disk`,
      { body: DiskResize, status: 201, summary: 'Grow a disk of a node' },
      ({ params, body }) => find(params).resizeDisk(body),
    ),
    route(
      `POST ${node}/checkpoint`,
      { concurrent: true, status: 204, summary: 'Copy what has changed on the disks of a node', errors: [409, 507] },
      ({ params }) => find(params).checkpoint(),
    ),
    route(
      `POST ${disk}`,
      { body: NewDisk, status: 204, summary: 'Create a disk image in the folder of a node' },
      async ({ params, body, signal }) => {
        const image = { qemu_img: DISK_TOOL, path: params.disk_name, ...body };
        await find(params).changeDisks((disks) => disks.create(image, signal));
      },
    ),
    route(
      `PUT ${disk}`,
      { body: LongerDisk, status: 204, summary: 'Extend a disk image in the folder of a node' },
      async ({ params, body, signal }) => {
        const image = { qemu_img: DISK_TOOL, path: params.disk_name, ...body };
        await find(params).changeDisks((disks) => disks.extend(image, signal));
      },
    ),
    route(`DELETE ${disk}`, { status: 204, summary: 'Delete a disk image in the folder of a node' }, ({ params }) =>
      find(params).changeDisks((disks) => disks.delete(params.disk_name)),
    ),
  ];
}
