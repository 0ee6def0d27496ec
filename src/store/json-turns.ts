// Parses long JSON of other servers in pieces, so that the main thread stays responsive. A separate thread would not
// help: its result would have to be cloned here, which takes as long as parsing.
import { setImmediate as turn } from 'node:timers/promises';
import { type Failure, invalid } from '../failures.ts';
import { endOfString, parseJsonBounded } from './json.ts';

/** Characters of a list parsed at a time: at worst 10,000 objects, some 20 ms. */
const PIECE_CHARACTERS = 32 * 1024;
/** Limits for an indivisible part: one object, or one element of a list. A node of any kind needs a hundredth. */
const UNDIVIDED = { maxContainers: 50_000, maxValues: 250_000 };
/** Limits for a whole list: twenty files for each node of a lab of 10,000. */
const MOST_CONTAINERS = 200_000;
const MOST_VALUES = 1_000_000;

/** As `parseJsonBounded`, with tighter limits for anything but a list. @throws Failure `invalid` */
export async function parseJsonInTurns(text: string): Promise<unknown> {
  const start = text.search(/\S/);
  if (text.length <= PIECE_CHARACTERS || text[start] !== '[') return parseJsonBounded(text, UNDIVIDED);
  const list: unknown[] = [];
  let from = start + 1;
  let depth = 0;
  let containers = 1;
  let values = 1;
  const take = (end: number): void => {
    const piece = parseJsonBounded(`[${text.slice(from, end)}]`, UNDIVIDED) as unknown[];
    if (piece.length === 0) throw invalid(`not valid JSON: no value before position ${end}`);
    for (const value of piece) list.push(value);
    from = end + 1;
  };
  for (let at = from; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case 0x5b: // [
      case 0x7b: // {
        depth += 1;
        containers += 1;
        values += 1;
        if (containers > MOST_CONTAINERS) throw tooMany(`${MOST_CONTAINERS} objects and lists`);
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1;
        if (depth < 0) {
          const isEmpty = from === start + 1 && text.slice(from, at).trim() === '';
          if (!isEmpty) take(at);
          if (text[at] !== ']' || text.slice(at + 1).trim() !== '')
            throw invalid(`not valid JSON: something follows the list at position ${at + 1}`);
          return list;
        }
        break;
      case 0x2c: // ,
        values += 1;
        if (values > MOST_VALUES) throw tooMany(`${MOST_VALUES} values`);
        if (depth === 0 && at - from >= PIECE_CHARACTERS) {
          take(at);
          await turn();
        }
        break;
      case 0x22: // "
        at = endOfString(text, at);
        break;
    }
  }
  throw invalid('not valid JSON: the list has no end');
}

function tooMany(what: string): Failure {
  return invalid(`JSON of more than ${what}; divide the document`);
}
