// A link: its verbs and tabs.

import { endName } from '../../model/lab/link-name.ts';
import { wiresharkLine } from '../../model/server/capture-line.ts';
import type { LinkObject } from '../../model/server/types.ts';
import { WORDS } from '../../words.ts';
import { Button } from '../button.tsx';
import { lazily } from '../lazy-component.tsx';
import { VerbButton } from '../verb-button.tsx';
import { ImpairmentsTab } from './link/impairments.tsx';
import { LinkStyleTab } from './link-style.tsx';
import { type Tab, type TabProps, Tabs } from './tabs.tsx';

const CaptureForm = lazily<TabProps<LinkObject>>(async () => (await import('./link/capture-form.tsx')).CaptureForm);

const LINK_TABS: readonly Tab<LinkObject>[] = [
  { id: 'general', title: WORDS.links.general, component: General },
  { id: 'impairments', title: WORDS.impairments.title, component: ImpairmentsTab },
  { id: 'style', title: WORDS.links.style, component: LinkStyleTab },
];

export function LinkDetails({ context, object: link }: TabProps<LinkObject>) {
  const { lab, select } = context;
  return (
    <>
      <h2>
        {link.nodes.map((end, index) => (
          <>
            {index > 0 && ' – '}
            <Button onClick={() => select({ nodes: [end.node_id] })} text={endName(lab, end)} />
          </>
        ))}
      </h2>
      <p class="tools">
        {['suspend', 'capture', 'stopCapture', 'delete'].map((verb) => (
          <VerbButton key={verb} context={context} id={`link.${verb}`} />
        ))}
      </p>
      <Tabs
        tabs={LINK_TABS}
        context={context}
        object={link}
        open={context.typedDelay.value === '' ? undefined : 'impairments'}
      />
    </>
  );
}

function General({ context, object: link }: TabProps<LinkObject>) {
  const { lab } = context;
  if (!link.capturing) {
    return (
      <>
        <p>{WORDS.links.notCaptured}</p>
        {lab.whyNotChange === '' && <CaptureForm context={context} object={link} />}
      </>
    );
  }
  return (
    <>
      <p>{WORDS.links.wireshark}:</p>
      <pre>{wiresharkLine(`${lab.path}/links/${link.link_id}`)}</pre>
    </>
  );
}
