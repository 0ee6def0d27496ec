// Texts for the settings that only nodes of Dynamips have; loaded only for the API document.
import { type GroupedWords, words } from './words.ts';

const slot = (number: number) => words(`Slot ${number}`, 'Card in this slot; empty for none.');
const wic = (number: number) => words(`WIC ${number}`, 'Interface card on the main board; empty for none.');

export const dynamipsWords: GroupedWords = {
  Machine: {
    platform: words('Series', 'Such as c7200.'),
    chassis: words('Chassis'),
    npe: words('Processor board', 'NPE of a c7200.'),
    midplane: words('Midplane', 'Of a c7200.'),
    image: words('Image', 'File of the IOS image.', { images: true }),
    dynamips_id: words('Number', 'Of the router in the project.'),
    image_md5sum: words('Checksum of the image', 'MD5.'),
    iomem: words('I/O memory', 'Part of the memory that is for packets.', { unit: '%' }),
  },
  'Disks and start': {
    disk0: words('Disk 0', 'Size of the PCMCIA disk; 0 for none.', { unit: 'MiB' }),
    disk1: words('Disk 1', 'Size of the PCMCIA disk; 0 for none.', { unit: 'MiB' }),
    auto_delete_disks: words('Forget disks and NVRAM', 'They are deleted when the router stops.'),
  },
  Cards: {
    ...Object.fromEntries([0, 1, 2, 3, 4, 5, 6].map((number) => [`slot${number}`, slot(number)])),
    ...Object.fromEntries([0, 1, 2].map((number) => [`wic${number}`, wic(number)])),
  },
  Network: {
    mac_addr: words('Base MAC address', 'hhhh.hhhh.hhhh; chosen by the server unless given.'),
  },
  More: {
    idlepc: words('Idle value', 'Address at which the router idles; without one it takes a whole processor.'),
    idlemax: words('Idle count', 'Times that it idles before it sleeps.'),
    idlesleep: words('Idle sleep', undefined, { unit: 'ms' }),
    exec_area: words('Translation cache', undefined, { unit: 'MiB' }),
    mmap: words('Memory as a file', 'Routers of one image share what they have not written.'),
    sparsemem: words('Sparse memory', 'Memory is taken from the host when it is used.'),
    clock_divisor: words('Clock divisor', 'Slows the clock of the router.'),
    system_id: words('Serial number', 'Of the chassis.'),
    sensors: words('Temperatures', 'Of the four sensors of a c7200.'),
    power_supplies: words('Power supplies', 'Of a c7200: 1 for on, 0 for off.'),
  },
};
