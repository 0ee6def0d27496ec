// The header by which a controller sends a virtual PC's MAC number: the release's computes accept no such member.
import { invalid } from '../../failures.ts';
import { MAC_ADDRESSES } from '../../pc/mac.ts';

const HEADER = 'X-Mac-Number';

/**
 * The number in the request, from 0; undefined without one.
 * @throws Failure `invalid`
 */
export function macNumberIn(headers: Headers): number | undefined {
  const text = headers.get(HEADER);
  if (text === null) return undefined;
  if (/^\d{1,8}$/.test(text) && Number(text) < MAC_ADDRESSES) return Number(text);
  throw invalid(`${HEADER}: expected a number from 0 to ${MAC_ADDRESSES - 1}.`);
}

export function withMacNumber(number: number): Record<string, string> {
  return { [HEADER]: String(number) };
}
