// Downloads capture files from the server: a single file, the files of a ring, or all captures of a lab merged.
import { useSignal } from '@preact/signals';
import type { CaptureFileEntry } from '../../api/routes/links.ts';
import { bytesInWords } from '../model/browser/byte-sizes.ts';
import { api } from '../model/server/api.ts';
import { attempted } from '../model/server/attempt.ts';
import { downloadFrom } from '../model/transfer/save-file.ts';
import { Button } from '../panels/button.tsx';
import { WORDS } from '../words.ts';

const words = WORDS.capture;

/** Downloads the only file, or offers a choice. `path` is the link's path below `/v2`. */
export function Download({ path }: { path: string }) {
  const message = useSignal('');
  const files = useSignal<readonly CaptureFileEntry[]>([]);
  const [project = '', link] = path.split('/links/');
  const address = ({ name }: CaptureFileEntry): string => `/v2${project}/captures/${encodeURIComponent(name)}`;
  const load = async (): Promise<void> => {
    files.value = [];
    const all = await api.get<CaptureFileEntry[]>(`${project}/captures`);
    const own = all.filter(({ link_id: id }) => id === link);
    const [only, ...others] = own;
    if (!only) throw new Error(words.noFile);
    if (others.length > 0) files.value = own;
    else downloadFrom(address(only), only.name);
  };
  return (
    <>
      <Button
        aria-expanded={files.value.length > 0}
        onClick={() => void attempted(message, load)}
        text={words.download}
      />
      <span role="status">{message}</span>
      {files.value.length > 0 && (
        <ul class="capture-files" aria-label={words.files}>
          {files.value.map((file) => (
            <li key={file.name}>
              <a href={address(file)} download={file.name}>
                {file.name}
              </a>{' '}
              {file.bytes !== null && bytesInWords(file.bytes)}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** Downloads all captures of a lab, merged by time. `path` is the lab's path below `/v2`. */
export function DownloadMerged({ path, name }: { path: string; name: string }) {
  const message = useSignal('');
  const load = async (): Promise<void> => {
    // A failed download shows no reason, so this asks first.
    await api.mustHave(`${path}/merged-captures`);
    downloadFrom(`/v2${path}/merged-captures`, name);
  };
  return (
    <>
      <Button onClick={() => void attempted(message, load)} text={words.download} />
      <span role="status">{message}</span>
    </>
  );
}
