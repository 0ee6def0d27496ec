// The files of a node: startup configurations and the rest of its directory.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { bytesInWords } from '../../../model/browser/byte-sizes.ts';
import { api } from '../../../model/server/api.ts';
import { useLoaded } from '../../../model/server/loaded.ts';
import type { NodeObject } from '../../../model/server/types.ts';
import { WORDS } from '../../../words.ts';
import { Button } from '../../button.tsx';
import { Message } from '../../message.tsx';
import { Changing } from '../changing.tsx';
import { FileEditor, type TextFile } from '../file-editor.tsx';
import type { TabProps } from '../tabs.tsx';
import { diskUse, draftedFile, pathOfFile, textFile } from './node-files.ts';

const words = WORDS.node;

/** Configuration files, whether they exist or not. */
function configurations(node: NodeObject): string[] {
  const number = node.properties['dynamips_id'];
  const known: Readonly<Record<string, readonly string[]>> = {
    vpcs: ['startup.vpc'],
    iou: ['startup-config.cfg', 'private-config.cfg'],
    dynamips: [`configs/i${number}_startup-config.cfg`, `configs/i${number}_private-config.cfg`],
    docker: ['etc/network/interfaces'],
  };
  return [...(known[node.node_type] ?? [])];
}

export function Files({ context, object: node }: TabProps<NodeObject>) {
  const { lab, attempt } = context;
  const edited = useSignal<TextFile | undefined>(draftedFile(node));
  const { value, problem, again } = useLoaded(() => diskUse(node), [node.node_id, node.status]);
  useEffect(
    () =>
      lab.hear(({ action, event }) => {
        if (action.startsWith('file.') && String(event['path']).includes(node.node_id)) again();
      }),
    [lab, node.node_id, again],
  );
  if (edited.value !== undefined) {
    return (
      <FileEditor
        key={edited.value.title}
        lab={lab}
        file={edited.value}
        close={() => {
          edited.value = undefined;
          again();
        }}
      />
    );
  }
  const use = value.value;
  if (!use) return problem.value === '' ? <p>{words.loading}</p> : <Message text={problem.value} again={again} />;
  const sizes = new Map(use.files.map(({ path, size }) => [path, size]));
  const paths = [...new Set([...configurations(node), ...[...sizes.keys()].sort()])];
  const upload = (file: File): Promise<unknown> =>
    attempt(() => api.upload(pathOfFile(node, file.name), file)).then(again);
  return (
    <>
      <Message text={problem.value} again={again} />
      <p>{words.diskUse(bytesInWords(use.bytes))}</p>
      {paths.length === 0 && <p>{words.noFiles}</p>}
      {paths.length > 0 && (
        <table class="plain files">
          <thead>
            <tr>
              <th scope="col">{words.file}</th>
              <th scope="col">{words.size}</th>
              <th scope="col">
                <span class="hidden">{WORDS.common.actions}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {paths.map((path) => (
              <tr key={path}>
                <th scope="row">
                  <Button
                    aria-label={words.edit(path)}
                    onClick={() => {
                      edited.value = textFile(node, path);
                    }}
                    text={path}
                  />
                </th>
                <td>{sizes.has(path) ? bytesInWords(sizes.get(path)!) : words.fresh}</td>
                <td>
                  {sizes.has(path) && (
                    <a href={`/v2${pathOfFile(node, path)}`} download={path.split('/').at(-1)}>
                      {words.download}
                    </a>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <Changing context={context}>
        <label class="button" hidden={lab.whyNotChange !== ''}>
          {words.upload}
          <input
            class="hidden"
            type="file"
            onChange={({ currentTarget }) => {
              const [file] = currentTarget.files ?? [];
              if (file) void upload(file);
              currentTarget.value = '';
            }}
          />
        </label>
      </Changing>
    </>
  );
}
