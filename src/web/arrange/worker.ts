// The worker that arranges nodes, so that large labs do not block input.
import { arrangeNodes } from '../../layout/arrange-nodes.ts';
import type { ArrangeRequest, ArrangeResult } from './messages.ts';

addEventListener('message', ({ data: { nodes, links, style } }: MessageEvent<ArrangeRequest>) => {
  const result: ArrangeResult = { style, places: arrangeNodes(nodes, links, style) };
  postMessage(result);
});
