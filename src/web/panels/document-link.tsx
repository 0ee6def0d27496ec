// A link to the document that explains a form, in a tab of its own so that the form keeps its input.
import { WORDS } from '../words.ts';

/** By type of node; further types are in `other-emulators`. */
const TOPICS: Readonly<Record<string, string>> = {
  vpcs: 'vpcs',
  qemu: 'qemu',
  docker: 'docker',
  dynamips: 'dynamips',
  iou: 'iou',
  cloud: 'clouds',
  nat: 'clouds',
  ethernet_switch: 'switches',
  ethernet_hub: 'switches',
  frame_relay_switch: 'switches',
  atm_switch: 'switches',
};

export function topicOf(nodeType: string): string {
  return TOPICS[nodeType] ?? 'other-emulators';
}

export function DocumentLink({ topic }: { topic: string }) {
  return (
    <p class="hint">
      <a href={`/help/docs/${topic}`} target="_blank" rel="noreferrer">
        {WORDS.help.explained}
      </a>
    </p>
  );
}
