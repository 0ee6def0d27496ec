// Texts for the settings that only nodes of Docker have; loaded only for the API document.
import { type GroupedWords, words } from './words.ts';

export const dockerWords: GroupedWords = {
  Machine: {
    image: words('Image', 'Name and tag of the image; one that is missing is pulled.', { images: true }),
    container_id: words('Id of the container'),
    start_command: words('Start command', 'In place of the command of the image.'),
    environment: words('Environment', 'One variable a line: NAME=value.', { lines: true }),
    extra_volumes: words('Volumes', 'Directories of the container that are kept with the node, one a line.'),
  },
  Network: {
    mtu: words('MTU', 'Longest packet of its interfaces; 1500 unless set.', { unit: 'bytes' }),
    offload: words(
      'Checksum offload',
      'false: programs that read raw packets see complete checksums, and no packet is longer than the MTU.',
    ),
    extra_hosts: words('Hosts', 'Lines for /etc/hosts, name:address.', { lines: true }),
  },
  Console: {
    console_resolution: words('Screen', 'Width and height of a VNC console, such as 1024x768.'),
    console_http_port: words('Web port', 'Port in the container that an http console leads to.'),
    console_http_path: words('Web path', 'Path that an http console opens.'),
  },
};
