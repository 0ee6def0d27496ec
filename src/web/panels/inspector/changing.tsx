// Fields and buttons that change the lab; visible but disabled for viewers.
import type { ComponentChildren } from 'preact';
import type { LabContext } from '../../lab-context.ts';

export function Changing({ context, children }: { context: LabContext; children: ComponentChildren }) {
  const why = context.lab.whyNotChange;
  return (
    <fieldset class="bare" disabled={why !== ''} title={why || undefined}>
      {children}
    </fieldset>
  );
}
