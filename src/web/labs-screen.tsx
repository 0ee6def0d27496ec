// The list of labs: found, made, imported, opened, closed, renamed, copied, exported, deleted.
import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { api } from './model/api.ts';
import { Labs } from './model/labs.ts';
import type { ProjectObject } from './model/types.ts';
import { Live } from './panels/live.tsx';
import { WORDS } from './words.ts';

export function LabsScreen({ go }: { go: (path: string) => void }) {
  const labs = useMemo(() => new Labs(), []);
  const search = useSignal('');
  const busy = useSignal('');
  const shown = useComputed(() => {
    const words = search.value.toLowerCase();
    return labs.list.value?.filter(({ name }) => name.toLowerCase().includes(words));
  });
  useEffect(() => {
    document.title = 'Labwire';
    labs.events.start();
    return () => labs.events.stop();
  }, [labs]);

  /** Does one thing after the other, and says why it did not work. */
  const attempt = async (what: string, task: () => Promise<unknown>): Promise<void> => {
    busy.value = what;
    labs.message.value = '';
    try {
      await task();
      await labs.read();
    } catch (error) {
      labs.message.value = `${what}: ${error instanceof Error ? error.message : error}`;
    } finally {
      busy.value = '';
    }
  };

  const create = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const name = new FormData(form).get('name');
    void attempt(WORDS.labs.make, async () => {
      const { project_id: id } = await api.post<ProjectObject>('/projects', { name, auto_close: false });
      form.reset();
      go(`/labs/${id}`);
    });
  };

  const importFile = (file: File): Promise<void> =>
    attempt(`${WORDS.labs.import} ${file.name}`, async () => {
      const name = file.name.replace(/\.gns3(project|p)$/, '');
      await api.upload(
        `/projects/${crypto.randomUUID?.() ?? randomId()}/import?name=${encodeURIComponent(name)}`,
        file,
      );
    });

  const importer = useRef(importFile);
  importer.current = importFile;
  useEffect(() => {
    const over = (event: DragEvent): void => event.preventDefault();
    const drop = (event: DragEvent): void => {
      event.preventDefault();
      for (const file of event.dataTransfer?.files ?? []) void importer.current(file);
    };
    addEventListener('dragover', over);
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragover', over);
      removeEventListener('drop', drop);
    };
  }, []);

  return (
    <div class="labs">
      <header>
        <h1>Labwire</h1>
        <Live connection={labs.events.connection} />
      </header>
      <main>
        <div class="tools">
          <form onSubmit={create}>
            <label>
              <span class="hidden">{WORDS.labs.nameOfNew}</span>
              <input name="name" required placeholder={WORDS.labs.nameOfNew} autocomplete="off" />
            </label>
            <button type="submit">{WORDS.labs.make}</button>
          </form>
          <label class="button">
            {WORDS.labs.import}
            <input
              class="hidden"
              type="file"
              accept=".gns3project,.gns3p"
              onChange={({ currentTarget }) => {
                const [file] = currentTarget.files ?? [];
                if (file) void importFile(file);
                currentTarget.value = '';
              }}
            />
          </label>
          <label class="search">
            <span class="hidden">{WORDS.common.search}</span>
            <input
              type="search"
              placeholder={WORDS.common.search}
              onInput={({ currentTarget }) => {
                search.value = currentTarget.value;
              }}
            />
          </label>
        </div>
        <p class="message" role="alert">
          {labs.message}
        </p>
        <p class="busy" role="status">
          {busy}
        </p>
        {shown.value?.length === 0 && <p>{WORDS.labs.none}</p>}
        {shown.value && shown.value.length > 0 && (
          <table>
            <thead>
              <tr>
                <th scope="col">{WORDS.common.name}</th>
                <th scope="col">{WORDS.common.state}</th>
                <th scope="col">{WORDS.common.actions}</th>
              </tr>
            </thead>
            <tbody>
              {shown.value.map((project) => (
                <Row key={project.project_id} project={project} go={go} attempt={attempt} />
              ))}
            </tbody>
          </table>
        )}
      </main>
    </div>
  );
}

interface RowProps {
  project: ProjectObject;
  go: (path: string) => void;
  attempt: (what: string, task: () => Promise<unknown>) => Promise<void>;
}

function Row({ project, go, attempt }: RowProps) {
  const path = `/projects/${project.project_id}`;
  const isOpen = project.status === 'opened';
  const rename = (): void => {
    const name = prompt(WORDS.common.rename, project.name);
    if (name !== null && name !== project.name) void attempt(WORDS.common.rename, () => api.put(path, { name }));
  };
  const duplicate = (): void => {
    const name = prompt(WORDS.common.duplicate, `${project.name} copy`);
    if (name !== null) void attempt(WORDS.common.duplicate, () => api.post(`${path}/duplicate`, { name }));
  };
  const remove = (): void => {
    if (confirm(WORDS.labs.askRemove(project.name))) {
      void attempt(WORDS.common.remove, () => api.delete(path));
    }
  };
  const address = `/labs/${project.project_id}`;
  return (
    <tr>
      <th scope="row">
        {project.damaged ? (
          <>
            {project.name} <small>{project.damaged}</small>
          </>
        ) : (
          <a
            href={address}
            onClick={(event) => {
              if (event.ctrlKey || event.metaKey || event.shiftKey) return;
              event.preventDefault();
              go(address);
            }}
          >
            {project.name}
          </a>
        )}
      </th>
      <td>
        <span class="state" data-status={isOpen ? 'started' : 'stopped'} />{' '}
        {project.damaged ? WORDS.labs.damaged : isOpen ? WORDS.labs.opened : WORDS.labs.closed}
      </td>
      <td>
        <div class="actions">
          {!project.damaged && (
            <>
              <button
                type="button"
                onClick={() =>
                  void attempt(isOpen ? WORDS.common.close : WORDS.common.open, () =>
                    api.post(`${path}/${isOpen ? 'close' : 'open'}`),
                  )
                }
              >
                {isOpen ? WORDS.common.close : WORDS.common.open}
              </button>
              <button type="button" onClick={rename}>
                {WORDS.common.rename}
              </button>
              <button type="button" onClick={duplicate}>
                {WORDS.common.duplicate}
              </button>
              <a class="button" href={`/v2${path}/export`} download={`${project.name}.gns3project`}>
                {WORDS.labs.export}
              </a>
            </>
          )}
          <button type="button" onClick={remove}>
            {WORDS.common.remove}
          </button>
        </div>
      </td>
    </tr>
  );
}

/** A UUID of version 4 where the page has no secure context, which `crypto.randomUUID` wants. */
function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const text = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return text.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
