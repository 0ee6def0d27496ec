// A capture in the page: its list, the frame that is chosen, and what may be done with it.
import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { api } from '../model/api.ts';
import { copyText } from '../model/clipboard.ts';
import { WORDS } from '../words.ts';
import { Download } from './download.tsx';
import { CaptureFeed } from './feed.ts';
import { FrameTree } from './frame-tree.tsx';
import { PacketList } from './packet-list.tsx';

const words = WORDS.capture;
/** As much of a capture that runs already is read as is kept. */
const LAST_BYTES = 32 << 20;

interface CaptureViewProps {
  /** Path of the link below `/v2`. */
  path: string;
  title: string;
  isShown: boolean;
}

export function CaptureView({ path, title, isShown }: CaptureViewProps) {
  const feed = useMemo(() => new CaptureFeed(`${path}/pcap/ws`, { last: String(LAST_BYTES) }), [path]);
  useEffect(() => () => feed.stop(), [feed]);
  const following = useSignal(true);
  const chosen = useSignal<number | undefined>(undefined);
  const message = useSignal('');
  const choose = (number: number): void => {
    chosen.value = number;
    following.value = false;
    feed.choose(number);
  };
  const line = `curl -sN ${location.origin}/v2${path}/pcap | wireshark -k -i -`;
  const stop = (): void => {
    api.post(`${path}/stop_capture`).catch((error: unknown) => {
      message.value = error instanceof Error ? error.message : String(error);
    });
  };
  return (
    <section class="capture" hidden={!isShown} aria-label={`${words.title} ${title}`}>
      <div class="capture-head">
        <label>
          {words.filter}{' '}
          <input
            type="search"
            class="capture-filter"
            placeholder="arp or ip.addr == 10.0.0.1"
            aria-invalid={feed.wrong.value !== ''}
            aria-describedby={`wrong-${path}`}
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => feed.filter(event.currentTarget.value)}
          />
        </label>
        <button
          type="button"
          aria-pressed={following.value}
          onClick={() => {
            following.value = !following.value;
          }}
        >
          {words.follow}
        </button>
        <button type="button" disabled={feed.state.value?.connection === 'ended'} onClick={stop}>
          {words.stop}
        </button>
        <Download path={path} />
        <details class="capture-line">
          <summary>{words.wireshark}</summary>
          <CopyLine line={line} />
        </details>
        <span class="capture-wrong" id={`wrong-${path}`} role="status">
          {feed.wrong}
        </span>
      </div>
      <p class="capture-figures" role="status">
        <Figures feed={feed} /> {message}
      </p>
      <div class="capture-body">
        <PacketList feed={feed} following={following} chosen={chosen} choose={choose} isShown={isShown} />
        <FrameTree feed={feed} />
      </div>
    </section>
  );
}

function Figures({ feed }: { feed: CaptureFeed }) {
  const state = feed.state.value;
  if (!state) return words.connecting;
  const { received, kept, shown, server, connection, reason } = state;
  const total = Math.max(server?.frames ?? 0, received);
  const said = [words.frames(total)];
  if (server) said.push(words.bytes(server.bytes), words.drops(server.drops));
  if (server && server.skipped_bytes > 0) said.push(words.skipped(server.skipped_bytes));
  if (kept < total) said.push(words.last(kept, total));
  if (shown < kept) said.push(words.shown(shown));
  if (connection === 'lost') said.push(`${words.lost} ${reason}`);
  if (connection === 'ended') said.push(reason);
  return said.join(', ');
}

/** A line that a click selects as a whole and copies, also where no secure context is. */
function CopyLine({ line }: { line: string }) {
  const isCopied = useSignal(false);
  const code = useRef<HTMLElement>(null);
  const copy = async (): Promise<void> => {
    isCopied.value = await copyText(line);
    getSelection()?.selectAllChildren(code.current!);
  };
  return (
    <>
      <code ref={code}>{line}</code>
      <button type="button" onClick={() => void copy()}>
        {isCopied.value ? words.copied : words.copy}
      </button>
    </>
  );
}
