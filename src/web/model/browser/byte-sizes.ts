// Formats numbers of bytes.
import { inNumbers } from '../../language.ts';

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function bytesInWords(bytes: number): string {
  const step = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), UNITS.length - 1);
  const value = bytes / 1024 ** step;
  return `${step === 0 || value >= 100 ? Math.round(value) : inNumbers(value, 1)} ${UNITS[step]}`;
}
