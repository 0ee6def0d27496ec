// Settings of every node: name, symbol, label, console, start order.
import { webAddress } from '../../../console/web-address.ts';
import { type Field, fieldsOf } from '../../../forms/schema.ts';
import type { NodeObject } from '../../../model/server/types.ts';
import { STATUS, stateOf, WORDS } from '../../../words.ts';
import { CopyLine } from '../../copy-line.tsx';
import { Message } from '../../message.tsx';
import { SymbolForm } from '../../symbol-form.tsx';
import { Changing } from '../changing.tsx';
import type { TabProps } from '../tabs.tsx';
import { generalFields } from './changes.ts';
import { HostField } from './host-field.tsx';
import { LabelStyleFields } from './label-style.tsx';
import { useNodeForm } from './use-node-form.ts';

const words = WORDS.node;

const [LABEL] = fieldsOf({
  properties: { label: { type: 'string', title: words.label, description: words.labelHelp } },
}) as [Field];

export function General({ context, object: node }: TabProps<NodeObject>) {
  const { form, problem, again, save } = useNodeForm(context.history, node, (members, settings) =>
    generalFields(members, settings, LABEL),
  );
  const aux = node.properties['aux'];
  const web = webAddress(node);
  return (
    <>
      <p>
        {STATUS[stateOf(node)]}, {WORDS.nodes.types[node.node_type as keyof typeof WORDS.nodes.types] ?? node.node_type}
      </p>
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
      {problem && <Message text={problem} again={again} />}
      <Changing context={context}>
        {form && <SymbolForm form={form} save={save} />}
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
