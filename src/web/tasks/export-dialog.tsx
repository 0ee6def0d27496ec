// Options for exporting labs. The browser downloads the archives itself, one after another, so their size does not matter.
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { Asking } from '../labs/asking.tsx';
import { api } from '../model/server/api.ts';
import type { ProjectObject } from '../model/server/types.ts';
import { Choice } from '../panels/choice.tsx';
import { forEachNamed } from '../panels/for-each-named.ts';
import { WORDS } from '../words.ts';

const words = WORDS.exporting;

export type Exported = Pick<ProjectObject, 'project_id' | 'name'>;

interface ExportDialogProps {
  projects: readonly Exported[];
  close(): void;
}

export function ExportDialog({ projects, close }: ExportDialogProps) {
  const left = useMemo(() => new Set(projects), [projects]);
  const name = projects.length === 1 ? projects[0]!.name : undefined;
  const compression = useSignal('zip');
  const download = async (data: FormData, closed: AbortSignal): Promise<void> => {
    const query = new URLSearchParams({ compression: compression.value });
    for (const member of ['include_images', 'include_snapshots', 'reset_mac_addresses']) {
      if (data.has(member)) query.set(member, 'yes');
    }
    await forEachNamed(
      left,
      async ({ project_id: id, name }) => {
        const path = `/projects/${id}/export?${query}`;
        // A failed download shows no reason, so this asks first; without the archive, which is made once.
        await api.get(`${path}&check=yes`);
        const link = document.createElement('a');
        link.href = `/v2${path}`;
        link.download = `${name}.gns3project`;
        link.click();
      },
      closed,
    );
  };
  const option = (member: string, text: string) => (
    <label class="switch">
      <input type="checkbox" name={member} /> {text}
    </label>
  );
  return (
    <Asking
      title={words.title(name ?? WORDS.labs.count(projects.length))}
      verb={words.download}
      close={close}
      submit={download}
    >
      {option('include_images', words.images)}
      {option('include_snapshots', words.snapshots)}
      {option('reset_mac_addresses', words.macs)}
      <Choice
        label={words.compression}
        chosen={compression}
        choices={[
          ['zip', words.zip],
          ['none', words.stored],
        ]}
      />
    </Asking>
  );
}
