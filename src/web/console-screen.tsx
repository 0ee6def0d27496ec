// A window that shows one console only.
import { useEffect, useMemo } from 'preact/hooks';
import { Dock } from './dock/dock.tsx';
import { LabContext } from './lab-context.ts';
import { useShares } from './model/account/permissions.ts';
import { LabHeader } from './panels/lab-header.tsx';
import { Message } from './panels/message.tsx';
import { openConsole } from './verbs/nodes.ts';
import { WORDS } from './words.ts';

interface ConsoleScreenProps {
  /** Ids of the lab and the node. */
  ids: readonly string[];
  go: (path: string) => void;
}

export function ConsoleScreen({ ids: [labId = '', nodeId = ''], go }: ConsoleScreenProps) {
  const context = useMemo(() => new LabContext(labId, go), [labId, go]);
  const { lab, dock } = context;
  useEffect(() => {
    lab.start();
    return () => lab.stop();
  }, [lab]);
  useShares(lab.project.value);
  lab.changes.value;
  const isOpen = lab.state.value === 'open';
  const node = isOpen ? lab.nodes.get(nodeId) : undefined;
  const isKnown = node !== undefined;
  const isRead = lab.state.value !== 'reading' && lab.state.value !== 'refused';
  useEffect(() => {
    if (isKnown && dock.list.peek().length === 0) openConsole(context, nodeId);
  }, [isKnown, context, dock, nodeId]);
  useEffect(() => {
    if (node) document.title = `${node.name} - Labwire`;
  }, [node?.name, node]);
  return (
    <div class="alone">
      <LabHeader lab={lab} />
      <Message text={lab.message.value || (isRead && !isKnown ? WORDS.console.noSuchNode : '')} />
      <Message text={lab.problem.value} again={() => lab.read()} />
      <main>
        <Dock context={context} isAlone />
      </main>
    </div>
  );
}
