// The packets of one link's capture, with its actions.
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { copyText } from '../model/browser/clipboard.ts';
import type { Lab } from '../model/lab/lab.ts';
import { api } from '../model/server/api.ts';
import { attempted } from '../model/server/attempt.ts';
import { wiresharkLine } from '../model/server/capture-line.ts';
import { Button } from '../panels/button.tsx';
import { Message } from '../panels/message.tsx';
import { WORDS } from '../words.ts';
import { Download } from './download.tsx';
import type { SourceAddress } from './messages.ts';
import { PacketsView } from './packets-view.tsx';

const words = WORDS.capture;
/** How much of a running capture is read back; the list keeps no more. */
export const LAST_BYTES = 32 << 20;

interface CaptureViewProps {
  lab: Lab;
  linkId: string;
  title: string;
  isShown: boolean;
}

export function CaptureView({ lab, linkId, title, isShown }: CaptureViewProps) {
  lab.changes.value; // the capture stops and starts
  const message = useSignal('');
  const path = `${lab.path}/links/${linkId}`;
  const line = wiresharkLine(path);
  const stop = (): void => {
    void attempted(message, () => api.post(`${path}/stop_capture`));
  };
  return (
    <PacketsView
      sources={lab.links.get(linkId)?.capturing ? [sourceOf(lab, linkId, title, LAST_BYTES)] : []}
      title={title}
      isShown={isShown}
      tools={(isOver) => (
        <>
          {lab.whyNotChange === '' && <Button disabled={isOver} onClick={stop} text={words.stop} />}
          <Download path={path} />
          <ForWireshark line={line} />
          <Message text={message.value} />
        </>
      )}
    />
  );
}

/** Where the running capture of a link is read from about so many bytes before its end. */
export function sourceOf(lab: Lab, linkId: string, name: string, last: number): SourceAddress {
  const path = `${lab.path}/links/${linkId}/pcap/ws`;
  return { name, path, query: { last: String(last) }, start: lab.captureStarts.get(linkId) ?? 0 };
}

/** The command line that pipes the live capture into Wireshark. */
export function ForWireshark({ line }: { line: string }) {
  return (
    <details class="capture-line">
      <summary>{words.wireshark}</summary>
      <CopyLine line={line} />
    </details>
  );
}

/** A line that is selected and copied by a click, also outside a secure context. */
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
      <Button onClick={() => void copy()} text={isCopied.value ? words.copied : words.copy} />
    </>
  );
}
