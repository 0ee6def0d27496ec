// One frame: layers, fields and bytes. A selected field is highlighted in the bytes.
import { useSignal } from '@preact/signals';
import { Button } from '../panels/button.tsx';
import { WORDS } from '../words.ts';
import { hex, LINE_BYTES, letter } from './byte-lines.ts';
import type { CaptureFeed } from './feed.ts';

const words = WORDS.capture;
/** Most bytes shown per frame. */
const SHOWN_BYTES = 4096;

interface Marked {
  from: number;
  to: number;
}

export function FrameTree({ feed, follow }: { feed: CaptureFeed; follow: (frame: number) => void }) {
  const marked = useSignal<Marked>({ from: 0, to: 0 });
  const frame = feed.frame.value;
  if (!frame) return <p class="frame-none">{words.choose}</p>;
  const mark = (where: Marked) => () => {
    marked.value = where;
  };
  return (
    <div class="frame">
      <section class="frame-layers" aria-label={words.tree}>
        <p>
          {words.frame(frame.number, frame.length, frame.bytes.length)}{' '}
          {frame.hasStream && <Button onClick={() => follow(frame.id)} text={words.stream.follow} />}
        </p>
        {frame.layers.map((layer, index) => (
          <details key={`${frame.id} ${index}`} open={index >= frame.layers.length - 2}>
            <summary>{layer.name}</summary>
            <ul>
              {layer.fields.map((field, at) => (
                <li key={`${at} ${field.label}`}>
                  <button
                    type="button"
                    aria-pressed={marked.value.from === field.from && marked.value.to === field.to}
                    title={field.key}
                    onClick={mark(field)}
                  >
                    {field.label}: <b>{field.text}</b>
                  </button>
                </li>
              ))}
            </ul>
          </details>
        ))}
      </section>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
      <section class="frame-bytes" aria-label={words.hex} tabIndex={0}>
        <Bytes bytes={frame.bytes} marked={marked.value} />
      </section>
    </div>
  );
}

function Bytes({ bytes, marked }: { bytes: Uint8Array; marked: Marked }) {
  const lines: number[] = [];
  for (let at = 0; at < Math.min(bytes.length, SHOWN_BYTES); at += LINE_BYTES) lines.push(at);
  const part = (at: number, show: (byte: number) => string, between: string) => {
    const end = Math.min(at + LINE_BYTES, bytes.length);
    const [from, to] = [Math.max(at, Math.min(marked.from, end)), Math.max(at, Math.min(marked.to, end))];
    const text = (begin: number, stop: number): string => Array.from(bytes.subarray(begin, stop), show).join(between);
    const pieces = [text(at, from), text(from, to), text(to, end)];
    const gap = (index: number): string => (pieces[index] && pieces.slice(index + 1).some(Boolean) ? between : '');
    return (
      <>
        {pieces[0] + gap(0)}
        {pieces[1] && <mark>{pieces[1]}</mark>}
        {gap(1) + pieces[2]}
      </>
    );
  };
  return (
    <pre>
      {lines.map((at) => (
        <span key={at}>
          {at.toString(16).padStart(4, '0')}
          {'  '}
          {part(at, hex, ' ')}
          {' '.repeat(3 * Math.max(0, at + LINE_BYTES - bytes.length) + 2)}
          {part(at, letter, '')}
          {'\n'}
        </span>
      ))}
    </pre>
  );
}
