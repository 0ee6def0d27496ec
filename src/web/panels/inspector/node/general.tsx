// What people need first of a node: name, console, addresses, notes; the settings that every node has are folded.
import { webAddress } from '../../../console/web-address.ts';
import { addressesOf, alwaysRuns } from '../../../model/lab/abilities.ts';
import type { NodeObject } from '../../../model/server/types.ts';
import { WORDS } from '../../../words.ts';
import { CopyLine } from '../../copy-line.tsx';
import { Message } from '../../message.tsx';
import { SymbolForm } from '../../symbol-form.tsx';
import { Changing } from '../changing.tsx';
import type { TabProps } from '../tabs.tsx';
import { generalFields } from './changes.ts';
import { HostField } from './host-field.tsx';
import { LabelStyleFields } from './label-style.tsx';
import { useLiveAddresses } from './use-live-addresses.ts';
import { useNodeForm } from './use-node-form.ts';

const words = WORDS.node;

export function General({ context, object: node }: TabProps<NodeObject>) {
  const { form, problem, again, save } = useNodeForm(context.history, node, (members, settings) =>
    generalFields(members, settings, !alwaysRuns(node)),
  );
  const aux = node.properties['aux'];
  const web = webAddress(node);
  const addresses = addressesOf(node);
  const live = useLiveAddresses(context.lab, node);
  return (
    <>
      {node.lost_reason !== undefined && <Message text={node.lost_reason} />}
      <HostField context={context} nodes={[node]} />
      {web !== undefined && (
        <p>
          {words.webConsole}:{' '}
          <a href={web} target="_blank" rel="noopener noreferrer">
            {web}
          </a>
        </p>
      )}
      {web === undefined && node.console !== null && node.console_type !== 'none' && (
        <CopyLine label={words.consoleAddress} text={addressOf(node, node.console)} />
      )}
      {typeof aux === 'number' && <CopyLine label={words.auxAddress} text={addressOf(node, aux, 'telnet')} />}
      {live.length > 0 && (
        <dl>
          <dt>{words.liveAddresses}</dt>
          <dd>{live.join(', ')}</dd>
        </dl>
      )}
      {addresses.length > 0 && (
        <dl>
          <dt>{words.addresses}</dt>
          <dd>{addresses.join(', ')}</dd>
        </dl>
      )}
      {problem && <Message text={problem} again={again} />}
      <Changing context={context}>
        {form && <SymbolForm form={form} save={save} isFolded />}
        <LabelStyleFields context={context} node={node} />
      </Changing>
    </>
  );
}

/** A command for a terminal or an address for a browser. For a server that listens on all addresses, the page's host is used. */
function addressOf(node: NodeObject, port: number, type = node.console_type ?? 'telnet'): string {
  const host = ['0.0.0.0', '::'].includes(node.console_host ?? '') ? location.hostname : node.console_host;
  if (type === 'telnet') return `telnet ${host} ${port}`;
  return `${type === 'spice+agent' ? 'spice' : type}://${host}:${port}`;
}
