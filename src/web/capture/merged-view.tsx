// The captures of all links of a lab in one list. Captures that start later are added.
import { useRef } from 'preact/hooks';
import type { Lab } from '../model/lab/lab.ts';
import { streamed } from '../model/server/capture-line.ts';
import { WORDS } from '../words.ts';
import { ForWireshark, LAST_BYTES, sourceOf } from './capture-view.tsx';
import { DownloadMerged } from './download.tsx';
import { PacketsView } from './packets-view.tsx';

const words = WORDS.capture;

interface MergedViewProps {
  lab: Lab;
  isShown: boolean;
}

export function MergedView({ lab, isShown }: MergedViewProps) {
  lab.changes.value; // captures of links start and stop
  // Fixed when the list is created, so that all captures fit together.
  const share = useRef<number | undefined>(undefined);
  const captured = [...lab.links.values()].filter(({ capturing }) => capturing);
  share.current ??= Math.floor(LAST_BYTES / Math.max(1, captured.length));
  const last = share.current;
  const sources = captured.map((link) => {
    const name = link.nodes.map((end) => lab.nodes.get(end.node_id)?.name ?? '').join(' – ');
    return sourceOf(lab, link.link_id, name, last);
  });
  const hosts = new Set(captured.map(({ capture_compute_id: host }) => host));
  // Wireshark takes each link as an interface; a shell such as bash provides a pipe for each.
  const inputs = captured.map(({ link_id: id }) => `-i <(${streamed(`${lab.path}/links/${id}`)})`);
  const line = `wireshark -k ${inputs.join(' ')}`;
  return (
    <PacketsView
      sources={sources}
      title={words.merged}
      isShown={isShown}
      {...(hosts.size > 1 && { note: words.clocks(hosts.size) })}
      tools={() =>
        sources.length === 0 ? (
          <span>{words.noCaptures}</span>
        ) : (
          <>
            <DownloadMerged path={lab.path} name={`${lab.project.value?.name ?? words.merged}.pcapng`} />
            <ForWireshark line={line} />
          </>
        )
      }
    />
  );
}
