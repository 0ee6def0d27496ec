// The files of captures, as they are on the server: one, those of a ring, or all of a lab merged to one.
import { useSignal } from '@preact/signals';
import { bytesInWords } from '../model/browser/byte-sizes.ts';
import { api } from '../model/server/api.ts';
import { sentenceOf } from '../model/server/sentence.ts';
import { downloadFrom } from '../model/transfer/save-file.ts';
import { WORDS } from '../words.ts';

const words = WORDS.capture;

interface CaptureFile {
  name: string;
  /** Null for a file that another host has. */
  bytes: number | null;
  link_id: string | null;
}

/** Downloads the only file, or lets one be chosen. `path` is that of the link, below `/v2`. */
export function Download({ path }: { path: string }) {
  const message = useSignal('');
  const files = useSignal<readonly CaptureFile[]>([]);
  const [project = '', link] = path.split('/links/');
  const address = ({ name }: CaptureFile): string => `/v2${project}/captures/${encodeURIComponent(name)}`;
  const load = async (): Promise<void> => {
    message.value = '';
    files.value = [];
    try {
      const all = await api.get<CaptureFile[]>(`${project}/captures`);
      const own = all.filter(({ link_id: id }) => id === link);
      const [only, ...others] = own;
      if (!only) throw new Error(words.noFile);
      if (others.length > 0) {
        files.value = own;
        return;
      }
      downloadFrom(address(only), only.name);
    } catch (error) {
      message.value = sentenceOf(error);
    }
  };
  return (
    <>
      <button type="button" aria-expanded={files.value.length > 0} onClick={() => void load()}>
        {words.download}
      </button>
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

/** Downloads what all captures of a lab have, by time. `path` is that of the lab, below `/v2`. */
export function DownloadMerged({ path, name }: { path: string; name: string }) {
  const message = useSignal('');
  const load = async (): Promise<void> => {
    message.value = '';
    try {
      // A download tells nobody why it fails.
      await api.mustHave(`${path}/merged-captures`);
      downloadFrom(`/v2${path}/merged-captures`, name);
    } catch (error) {
      message.value = sentenceOf(error);
    }
  };
  return (
    <>
      <button type="button" onClick={() => void load()}>
        {words.download}
      </button>
      <span role="status">{message}</span>
    </>
  );
}
