// Options for exporting a lab. The browser downloads the archive itself, so its size does not matter.
import { useSignal } from '@preact/signals';
import { Asking } from '../labs/asking.tsx';
import { api } from '../model/server/api.ts';
import { WORDS } from '../words.ts';

const words = WORDS.exporting;

interface ExportDialogProps {
  id: string;
  name: string;
  close(): void;
}

export function ExportDialog({ id, name, close }: ExportDialogProps) {
  const compression = useSignal('zip');
  const download = async (data: FormData): Promise<void> => {
    const query = new URLSearchParams({ compression: compression.value });
    for (const member of ['include_images', 'include_snapshots', 'reset_mac_addresses']) {
      if (data.has(member)) query.set(member, 'yes');
    }
    const path = `/projects/${id}/export?${query}`;
    // A failed download shows no reason, so this asks first.
    await api.mustHave(path);
    const link = document.createElement('a');
    link.href = `/v2${path}`;
    link.download = `${name}.gns3project`;
    link.click();
  };
  const option = (member: string, text: string) => (
    <label class="switch">
      <input type="checkbox" name={member} /> {text}
    </label>
  );
  return (
    <Asking title={words.title(name)} verb={words.download} close={close} submit={download}>
      {option('include_images', words.images)}
      {option('include_snapshots', words.snapshots)}
      {option('reset_mac_addresses', words.macs)}
      <label>
        {words.compression}
        <select
          value={compression}
          onChange={({ currentTarget }) => {
            compression.value = currentTarget.value;
          }}
        >
          <option value="zip">{words.zip}</option>
          <option value="none">{words.stored}</option>
        </select>
      </label>
    </Asking>
  );
}
