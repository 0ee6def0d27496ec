// The packets of one link's capture, with its actions.
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { whyNotChange } from '../model/account/permissions.ts';
import { copyText } from '../model/browser/clipboard.ts';
import { api } from '../model/server/api.ts';
import { attempted } from '../model/server/attempt.ts';
import { wiresharkLine } from '../model/server/capture-line.ts';
import { Button } from '../panels/button.tsx';
import { Message } from '../panels/message.tsx';
import { WORDS } from '../words.ts';
import { Download } from './download.tsx';
import { PacketsView } from './packets-view.tsx';

const words = WORDS.capture;
/** How much of a running capture is read back; the list keeps no more. */
export const LAST_BYTES = 32 << 20;

interface CaptureViewProps {
  labId: string;
  /** Path of the link below `/v2`. */
  path: string;
  title: string;
  isShown: boolean;
}

export function CaptureView({ labId, path, title, isShown }: CaptureViewProps) {
  const message = useSignal('');
  const line = wiresharkLine(path);
  const stop = (): void => {
    void attempted(message, () => api.post(`${path}/stop_capture`));
  };
  const source = { name: title, path: `${path}/pcap/ws`, query: { last: String(LAST_BYTES) } };
  return (
    <PacketsView
      sources={[source]}
      title={title}
      isShown={isShown}
      tools={(isOver) => (
        <>
          {whyNotChange(labId) === '' && <Button disabled={isOver} onClick={stop} text={words.stop} />}
          <Download path={path} />
          <ForWireshark line={line} />
          <Message text={message.value} />
        </>
      )}
    />
  );
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
