// How a controller gives a virtual PC the number that its MAC address is made of: a header, as computes of the release take no such member.
import { Failure } from '../../failures.ts';
import { MAC_ADDRESSES } from '../../pc/mac.ts';

const HEADER = 'X-Mac-Number';

/** The number that a request gives, from 0; undefined without one. @throws Failure `invalid` */
export function macNumberIn(headers: Headers): number | undefined {
  const text = headers.get(HEADER);
  if (text === null) return undefined;
  if (/^\d{1,8}$/.test(text) && Number(text) < MAC_ADDRESSES) return Number(text);
  throw new Failure('invalid', `${HEADER}: expected a number from 0 to ${MAC_ADDRESSES - 1}.`);
}

export function withMacNumber(number: number): Record<string, string> {
  return { [HEADER]: String(number) };
}
