// A packet list with its filter, figures, selected frame and followed stream.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useMemo, useRef } from 'preact/hooks';
import { Button } from '../panels/button.tsx';
import { Options } from '../panels/choice.tsx';
import { WORDS } from '../words.ts';
import { CaptureFeed } from './feed.ts';
import { FilterField } from './filter-field.tsx';
import { FrameTree } from './frame-tree.tsx';
import type { SourceAddress } from './messages.ts';
import { PacketList } from './packet-list.tsx';
import { StreamView } from './stream-view.tsx';

const words = WORDS.capture;

interface PacketsViewProps {
  /** The running captures; the list has those that have ended, too. */
  sources: readonly SourceAddress[];
  title: string;
  isShown: boolean;
  /** Further actions; `isOver` when all captures have ended. */
  tools: (isOver: boolean) => ComponentChildren;
  /** A note about the list. */
  note?: string;
}

export function PacketsView({ sources, title, isShown, tools, note }: PacketsViewProps) {
  const feed = useMemo(() => new CaptureFeed(), []);
  useEffect(() => () => feed.stop(), [feed]);
  const wanted = sources.map(({ path, start }) => `${path} ${start}`).join(' ');
  useEffect(() => feed.open(sources), [feed, wanted]);
  const following = useSignal(true);
  const chosen = useSignal<number | undefined>(undefined);
  const isStream = useSignal(false);
  const filter = useRef<HTMLInputElement>(null);
  const id = useId();
  const choose = (frame: number): void => {
    chosen.value = frame;
    following.value = false;
    feed.choose(frame);
  };
  const setFilter = (text: string): void => {
    filter.current!.value = text;
    feed.filter(text);
  };
  const leaveStream = (only?: string): void => {
    isStream.value = false;
    feed.leaveStream();
    if (only !== undefined) setFilter(only);
    filter.current?.focus();
  };
  const names = feed.state.value?.sources.map(({ name }) => name) ?? [];
  return (
    <section class="capture" hidden={!isShown} aria-label={`${words.title} ${title}`}>
      <div class="capture-head">
        <FilterField
          field={filter}
          isWrong={feed.wrong.value !== ''}
          describedBy={id}
          filter={(text) => feed.filter(text)}
        />
        {names.length > 1 && (
          <label>
            {words.link}{' '}
            <select onChange={({ currentTarget: { value } }) => setFilter(value === '' ? '' : `link == "${value}"`)}>
              <option value="">{words.everyLink}</option>
              <Options of={names.map((name) => [name, name])} />
            </select>
          </label>
        )}
        <Button
          aria-pressed={following.value}
          onClick={() => {
            following.value = !following.value;
          }}
          text={words.follow}
        />
        {tools(feed.state.value?.connection === 'ended')}
        <span class="capture-wrong" id={id} role="status">
          {feed.wrong}
        </span>
      </div>
      <p class="capture-figures">
        <Figures feed={feed} />{' '}
        <span role="status">
          <Ending feed={feed} />
        </span>
      </p>
      {note && <p class="capture-figures capture-note">{note}</p>}
      <div class="capture-body" hidden={isStream.value}>
        <PacketList
          feed={feed}
          following={following}
          chosen={chosen}
          choose={choose}
          isShown={isShown && !isStream.value}
        />
        <FrameTree
          feed={feed}
          follow={(frame) => {
            isStream.value = true;
            feed.follow(frame);
          }}
        />
      </div>
      {isStream.value && <StreamView feed={feed} leave={leaveStream} />}
    </section>
  );
}

/** Announced to screen readers: the end of a capture, but not its figures, which change all the time. */
function Ending({ feed }: { feed: CaptureFeed }) {
  const { connection, reason } = feed.state.value ?? {};
  return connection === 'lost' ? `${words.lost} ${reason}` : connection === 'ended' ? reason : '';
}

function Figures({ feed }: { feed: CaptureFeed }) {
  const state = feed.state.value;
  if (!state) return words.connecting;
  const { received, kept, shown, server, sources } = state;
  const total = Math.max(server?.frames ?? 0, received);
  const said = [words.frames(total)];
  if (sources.length > 1) {
    const running = sources.filter((source) => source.connection !== 'ended');
    said.unshift(words.captures(running.length, sources.length));
  }
  if (server) said.push(words.bytes(server.bytes), words.drops(server.drops));
  if (server && server.skipped_bytes > 0) said.push(words.skipped(server.skipped_bytes));
  if (kept < total) said.push(words.last(kept, total));
  if (shown < kept) said.push(words.shown(shown));
  return said.join(', ');
}
