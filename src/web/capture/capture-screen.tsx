// A window that shows one capture only.
import { useSignal } from '@preact/signals';
import { useCallback, useEffect } from 'preact/hooks';
import { readAccount } from '../model/account/account.ts';
import { readShares, whyNotChange } from '../model/account/permissions.ts';
import { api } from '../model/server/api.ts';
import { attempted } from '../model/server/attempt.ts';
import type { LinkObject, NodeObject } from '../model/server/types.ts';
import { Link } from '../panels/link.tsx';
import { Message } from '../panels/message.tsx';
import { WORDS } from '../words.ts';
import { CaptureView } from './capture-view.tsx';
import { useLab } from './use-lab.ts';

export function CaptureScreen({ ids: [projectId = '', linkId = ''] }: { ids: readonly string[] }) {
  const title = useSignal('');
  const message = useSignal('');
  const lab = useLab(projectId);
  const begin = useCallback((): void => {
    const read = async (): Promise<void> => {
      const [{ capturing, nodes: ends }] = await Promise.all([
        api.get<LinkObject>(`${lab.path}/links/${linkId}`),
        // Viewers get no button to stop the capture.
        readAccount().then(readShares),
      ]);
      if (!capturing) {
        const why = whyNotChange(projectId);
        if (why !== '') throw new Error(`${WORDS.may.noCapture} ${why}`);
        await api.post(`${lab.path}/links/${linkId}/start_capture`);
      }
      const nodes = await Promise.all(ends.map((end) => api.get<NodeObject>(`${lab.path}/nodes/${end.node_id}`)));
      title.value = nodes.map(({ name }) => name).join(' – ');
      document.title = `${title.value} - Labwire`;
    };
    void attempted(message, read);
  }, [lab, projectId, linkId, title, message]);
  useEffect(begin, [begin]);
  return (
    <main class="capture-alone">
      <h1>
        <Link to={`/labs/${projectId}`}>{WORDS.capture.title}</Link> {title}
      </h1>
      <Message text={message.value} again={begin} />
      {title.value !== '' && (
        <>
          <Message text={lab.problem.value} again={() => lab.read()} />
          <CaptureView lab={lab} linkId={linkId} title={title.value} isShown />
        </>
      )}
    </main>
  );
}
