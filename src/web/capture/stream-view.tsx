// A reassembled TCP stream: what each end sent, as text or bytes, with gaps.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { bytesInWords } from '../model/browser/byte-sizes.ts';
import { saveFile } from '../model/transfer/save-file.ts';
import { Button } from '../panels/button.tsx';
import { Choice } from '../panels/choice.tsx';
import { WORDS } from '../words.ts';
import { asText, dump } from './byte-lines.ts';
import type { CaptureFeed } from './feed.ts';
import { STREAM_BYTES, type StreamObject } from './streams/follower.ts';
import type { StreamPart } from './streams/reassembly.ts';

const words = WORDS.capture.stream;
/** Bytes shown at first and added by each `Show more`, because browsers are slow with much text. */
const SHOWN_BYTES = 128 << 10;

interface StreamViewProps {
  feed: CaptureFeed;
  /** Returns to the list, with a filter if given. */
  leave: (filter?: string) => void;
}

export function StreamView({ feed, leave }: StreamViewProps) {
  const form = useSignal('text');
  const side = useSignal('both');
  const limit = useSignal(SHOWN_BYTES);
  const back = useRef<HTMLButtonElement>(null);
  useEffect(() => back.current?.focus(), []);
  const stream = feed.stream.value;
  const parts = stream?.parts.filter((part) => side.value === 'both' || String(part.side) === side.value) ?? [];
  const shown = joined(parts, limit.value);
  const size = parts.reduce((sum, { data }) => sum + data.length, 0);
  const save = (): void => {
    const [from = '', to = ''] = stream?.ends ?? [];
    saveFile(`${from} ${to}.bin`, new Blob(parts.map(({ data }) => data.slice())));
  };
  return (
    <section class="stream" aria-label={words.title}>
      <div class="capture-head">
        <button type="button" ref={back} onClick={() => leave()}>
          {words.back}
        </button>
        <Choice
          label={words.as}
          chosen={form}
          choices={[
            ['text', words.text],
            ['hex', words.hex],
          ]}
        />
        {stream && (
          <>
            <Choice
              label={words.direction}
              chosen={side}
              choices={[
                ['0', stream.ends.join(' → ')],
                ['1', stream.ends.toReversed().join(' → ')],
                ['both', words.both],
              ]}
            />
            <Button onClick={save} text={words.save} />
            <Button onClick={() => leave(filterOf(stream.ends))} text={words.only} />
          </>
        )}
      </div>
      {stream ? <Figures stream={stream} /> : <p class="stream-figures">{words.looking}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
      <section class="stream-text" aria-label={words.content} tabIndex={0}>
        <pre>
          {shown.map((part) => (
            <Shown key={`${part.side} ${part.at} ${part.missing}`} part={part} isHex={form.value === 'hex'} />
          ))}
        </pre>
        {size > limit.value && (
          <Button
            onClick={() => {
              limit.value += SHOWN_BYTES;
            }}
            text={words.more}
          />
        )}
      </section>
    </section>
  );
}

function Figures({ stream: { ends, sides, waiting, dropped, isCut } }: { stream: StreamObject }) {
  return (
    <ul class="stream-figures">
      {sides.map((side, index) => {
        const [from, to] = index === 0 ? ends : ends.toReversed();
        const said = [words.side(from!, to!, side.bytes), words.ends[side.end]];
        if (side.repeated > 0) said.push(words.repeated(side.repeated));
        if (side.early > 0) said.push(words.early(side.early));
        if (side.missing > 0) said.push(words.missing(side.missing));
        return (
          <li key={from} data-side={index}>
            {said.join(', ')}
          </li>
        );
      })}
      {waiting > 0 && <li>{words.waiting(waiting)}</li>}
      {dropped > 0 && <li>{words.dropped(bytesInWords(STREAM_BYTES), dropped)}</li>}
      {isCut && <li>{words.cut}</li>}
    </ul>
  );
}

/** Contiguous bytes of one direction, and their offset there. */
interface Joined {
  side: 0 | 1;
  at: number;
  data: Uint8Array;
  missing: number;
}

/** Joins consecutive parts of the same direction, up to `limit` bytes. */
function joined(parts: readonly StreamPart[], limit: number): Joined[] {
  const groups: { side: 0 | 1; at: number; pieces: Uint8Array[]; missing: number }[] = [];
  const places: [number, number] = [0, 0];
  let left = limit;
  for (const { side, data, missing } of parts) {
    if (left <= 0) break;
    const piece = data.subarray(0, left);
    left -= piece.length;
    const last = groups.at(-1);
    if (last && last.side === side && last.missing === 0 && missing === 0) last.pieces.push(piece);
    else groups.push({ side, at: places[side], pieces: [piece], missing });
    places[side] += piece.length + missing;
  }
  return groups.map(({ side, at, pieces, missing }) => {
    const data = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
    let end = 0;
    for (const piece of pieces) {
      data.set(piece, end);
      end += piece.length;
    }
    return { side, at, data, missing };
  });
}

function Shown({ part: { side, at, data, missing }, isHex }: { part: Joined; isHex: boolean }) {
  if (missing > 0) return <span class="gap">[{words.gap(missing)}]</span>;
  return <span data-side={side}>{isHex ? dump(data, at) : asText(data)}</span>;
}

/** Display filter for the packets between these two ends. */
function filterOf(ends: readonly [string, string]): string {
  const parts = ends.map((end) => {
    const [, address = '', port = ''] = /^\[?(.*?)\]?:(\d+)$/.exec(end) ?? [];
    return `${address.includes(':') ? 'ipv6' : 'ip'}.addr == ${address} and tcp.port == ${port}`;
  });
  return parts.join(' and ');
}
