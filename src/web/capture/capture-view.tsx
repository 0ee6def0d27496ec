// The capture of one link in the page: its packets, and what may be done with it.
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { whyNotChange } from '../model/account/permissions.ts';
import { copyText } from '../model/browser/clipboard.ts';
import { api } from '../model/server/api.ts';
import { sentenceOf } from '../model/server/sentence.ts';
import { Message } from '../panels/message.tsx';
import { WORDS } from '../words.ts';
import { Download } from './download.tsx';
import { PacketsView } from './packets-view.tsx';

const words = WORDS.capture;
/** As much of captures that run already is read as is kept. */
export const LAST_BYTES = 32 << 20;

/** Writes the capture of a link, as it grows. `path` is that of the link, below `/v2`. */
export function streamed(path: string): string {
  return `curl -sN ${location.origin}/v2${path}/pcap`;
}

interface CaptureViewProps {
  labId: string;
  /** Path of the link below `/v2`. */
  path: string;
  title: string;
  isShown: boolean;
}

export function CaptureView({ labId, path, title, isShown }: CaptureViewProps) {
  const message = useSignal('');
  const line = `${streamed(path)} | wireshark -k -i -`;
  const stop = (): void => {
    message.value = '';
    api.post(`${path}/stop_capture`).catch((error: unknown) => {
      message.value = sentenceOf(error);
    });
  };
  const source = { name: title, path: `${path}/pcap/ws`, query: { last: String(LAST_BYTES) } };
  return (
    <PacketsView
      sources={[source]}
      title={title}
      isShown={isShown}
      tools={(isOver) => (
        <>
          {whyNotChange(labId) === '' && (
            <button type="button" disabled={isOver} onClick={stop}>
              {words.stop}
            </button>
          )}
          <Download path={path} />
          <ForWireshark line={line} />
          <Message text={message.value} />
        </>
      )}
    />
  );
}

/** The line that hands what is captured to Wireshark, while it happens. */
export function ForWireshark({ line }: { line: string }) {
  return (
    <details class="capture-line">
      <summary>{words.wireshark}</summary>
      <CopyLine line={line} />
    </details>
  );
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
