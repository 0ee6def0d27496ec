// Texts for the settings that only nodes of TraceNG have; loaded only for the API document.
import { type GroupedWords, words } from './words.ts';

export const tracengWords: GroupedWords = {
  Machine: {
    ip_address: words('Address', 'IPv4, such as 10.0.0.1.'),
    default_destination: words('Destination', 'Address that is traced.'),
  },
};
