// Validates images for the emulator: 32-bit big-endian ELF files, by their section headers (ELF specification 1.2, book
// I).
import { open } from 'node:fs/promises';
import { HEAD_BYTES, isRouterProgram } from '../../../api/kinds/image-heads.ts';
import { systemCode } from '../../../failures.ts';
import { refusal } from './platforms.ts';

const HEADER_BYTES = 52;
const SECTION_BYTES = 40;
const MOST_SECTIONS = 1024;
/** `SHT_NOBITS`: memory without content in the file. */
const NOBITS = 8;

/** @throws Failure `conflict` (`DynamipsError`) for a file that is missing, is no image, or is incomplete */
export async function mustBeImage(path: string): Promise<void> {
  await using file = await open(path).catch((error: unknown) => {
    const why = systemCode(error) === 'ENOENT' ? 'is missing; upload it again' : 'cannot be read';
    throw refusal(`image: ${path} ${why}.`, error);
  });
  const header = Buffer.alloc(HEADER_BYTES);
  const { bytesRead } = await file.read(header, 0, HEADER_BYTES, 0);
  if (bytesRead < HEAD_BYTES || !isRouterProgram(header.subarray(0, HEAD_BYTES))) {
    throw refusal(
      `image: ${path} is no image of a router (a 32-bit big-endian ELF file); choose another, unpacked if need be.`,
    );
  }
  const { size } = await file.stat();
  const truncated = () => refusal(`image: ${path} is not whole; upload it again.`);
  if (bytesRead < HEADER_BYTES) throw truncated();
  const [offset, bytes, count] = [header.readUInt32BE(32), header.readUInt16BE(46), header.readUInt16BE(48)];
  if (offset === 0 || bytes !== SECTION_BYTES || count > MOST_SECTIONS) return;
  const sections = Buffer.alloc(count * SECTION_BYTES);
  if ((await file.read(sections, 0, sections.length, offset)).bytesRead < sections.length) throw truncated();
  for (let at = 0; at < sections.length; at += SECTION_BYTES) {
    const [type, from, length] = [4, 16, 20].map((member) => sections.readUInt32BE(at + member)) as [
      number,
      number,
      number,
    ];
    if (type !== 0 && type !== NOBITS && from + length > size) throw truncated();
  }
}
