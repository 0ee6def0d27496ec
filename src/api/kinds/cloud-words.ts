// Texts for the settings that only nodes of clouds have; loaded only for the API document.
import { type GroupedWords, words } from './words.ts';

export const cloudWords: GroupedWords = {
  Network: {
    interfaces: words('Interfaces of the host'),
  },
  Console: {
    remote_console_type: words('Console type', 'Of what is behind the cloud.'),
    remote_console_host: words('Console host', 'Where the console of what is behind the cloud is.'),
    remote_console_port: words('Console port'),
    remote_console_http_path: words('Console path', 'Path of a web console.'),
  },
};
