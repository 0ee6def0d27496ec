// Texts for the settings that only nodes of IOU have; loaded only for the API document.
import { type GroupedWords, words } from './words.ts';

export const iouWords: GroupedWords = {
  Machine: {
    path: words('Image', 'File of the IOU image.', { images: true }),
    application_id: words('Number', 'From 1 to 511, each once on a host.'),
    md5sum: words('Checksum of the image', 'MD5.'),
    use_default_iou_values: words('Sizes of the image', 'Memory and NVRAM as the image has them.'),
  },
  Network: {
    ethernet_adapters: words('Ethernet adapters', 'Of four ports each.'),
    serial_adapters: words('Serial adapters', 'Of four ports each.'),
    l1_keepalives: words('Layer 1 keepalives', 'Ports go down when the other end does. Not all images can do it.'),
  },
};
