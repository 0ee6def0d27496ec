// A window that shows the captures of all links of a lab in one list.
import { useEffect } from 'preact/hooks';
import { Link } from '../panels/link.tsx';
import { Message } from '../panels/message.tsx';
import { WORDS } from '../words.ts';
import { MergedView } from './merged-view.tsx';
import { useLab } from './use-lab.ts';

export function MergedScreen({ ids: [labId = ''] }: { ids: readonly string[] }) {
  const lab = useLab(labId);
  const name = lab.project.value?.name ?? '';
  useEffect(() => {
    document.title = `${WORDS.capture.merged}${name && ` - ${name}`} - Labwire`;
  }, [name]);
  const state = lab.state.value;
  return (
    <main class="capture-alone">
      <h1>
        <Link to={`/labs/${labId}`}>{name || WORDS.labs.title}</Link> {WORDS.capture.merged}
      </h1>
      <Message text={lab.message.value || (['reading', 'open', 'refused'].includes(state) ? '' : WORDS.lab.closed)} />
      <Message text={lab.problem.value} again={() => lab.read()} />
      {lab.isShown && <MergedView lab={lab} isShown />}
    </main>
  );
}
