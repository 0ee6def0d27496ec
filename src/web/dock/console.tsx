// The console of a node, as a tab of the dock.
import { useEffect, useRef } from 'preact/hooks';
import type { ConsoleTerminal } from '../console/terminal.ts';
import type { PaneProps } from './pane.ts';

export function ConsolePane({ context, entry, isShown }: PaneProps<'console'>) {
  const host = useRef<HTMLDivElement>(null);
  const terminal = useRef<ConsoleTerminal | undefined>(undefined);
  const path = `${context.lab.path}/nodes/${entry.nodeId}/console/ws`;
  useEffect(() => {
    let over = false;
    // Fetched with the first console: a page without one does without it.
    void import('../console/terminal.ts').then(({ ConsoleTerminal }) => {
      if (over || !host.current) return;
      terminal.current = new ConsoleTerminal(host.current, path);
    });
    return () => {
      over = true;
      terminal.current?.stop();
    };
  }, [path]);
  useEffect(() => {
    if (isShown) terminal.current?.show();
  }, [isShown]);
  return <div class="console" ref={host} hidden={!isShown} />;
}
