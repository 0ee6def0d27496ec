// The Internet checksum (RFC 1071).

/** Sum of the bytes as 16-bit words, not yet folded. */
export function sumOf(bytes: Buffer, start = 0): number {
  let sum = start;
  const even = bytes.length & ~1;
  for (let at = 0; at < even; at += 2) sum += (bytes[at]! << 8) | bytes[at + 1]!;
  if (even !== bytes.length) sum += bytes[even]! << 8;
  return sum;
}

/** Folds a sum and answers its complement: 0 for data that carries its right checksum. */
export function fold(sum: number): number {
  let folded = sum;
  while (folded > 0xffff) folded = (folded & 0xffff) + Math.floor(folded / 0x1_0000);
  return ~folded & 0xffff;
}

/** Sum of the pseudo-header that TCP, UDP and ICMPv6 count in. */
export function pseudoSum(source: Buffer, destination: Buffer, protocol: number, length: number): number {
  return sumOf(destination, sumOf(source, protocol + length));
}
