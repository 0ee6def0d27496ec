// Tells screen readers what changes in a lab, gathered for a second, so that a lab that starts is one sentence.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Lab } from '../model/lab.ts';
import { type StatusChange, spokenChanges } from '../model/spoken.ts';

const GATHERED_MS = 1_000;

export function ChangesSpoken({ lab }: { lab: Lab }) {
  const text = useSignal('');
  useEffect(() => {
    const known = new Map([...lab.nodes].map(([id, { name, status }]) => [id, { name, status }]));
    const changes = new Map<string, StatusChange>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const tell = (): void => {
      timer = undefined;
      text.value = spokenChanges([...changes.values()]);
      changes.clear();
    };
    const unlisten = lab.listen((kind, id) => {
      if (kind !== 'node') return;
      const now = lab.nodes.get(id);
      const before = known.get(id);
      if (now) known.set(id, { name: now.name, status: now.status });
      else known.delete(id);
      if (now?.status === before?.status) return;
      changes.set(id, { name: (now ?? before)?.name ?? '', status: now?.status, isNew: before === undefined });
      timer ??= setTimeout(tell, GATHERED_MS);
    });
    return () => {
      unlisten();
      clearTimeout(timer);
    };
  }, [lab, text]);
  return (
    <p class="hidden" aria-live="polite">
      {text}
    </p>
  );
}
