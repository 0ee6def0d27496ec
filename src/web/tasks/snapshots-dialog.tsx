// The snapshots of a lab: create, restore, delete.

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { dateInWords } from '../language.ts';
import { whyNotChange } from '../model/account/permissions.ts';
import { setTo } from '../model/browser/signal-handlers.ts';
import { freeName } from '../model/lab/free-name.ts';
import { api } from '../model/server/api.ts';
import { attempted } from '../model/server/attempt.ts';
import { Button } from '../panels/button.tsx';
import { Message } from '../panels/message.tsx';
import { Dialog } from '../shell/dialog.tsx';
import { WORDS } from '../words.ts';
import { begin } from './page-tasks.ts';

const words = WORDS.snapshots;

interface SnapshotObject {
  snapshot_id: string;
  name: string;
  /** Seconds since 1970. */
  created_at: number;
}

interface SnapshotsDialogProps {
  id: string;
  name: string;
  close(): void;
}

export function SnapshotsDialog({ id, name, close }: SnapshotsDialogProps) {
  const path = `/projects/${id}/snapshots`;
  const list = useSignal<readonly SnapshotObject[] | undefined>(undefined);
  const message = useSignal('');
  const isBusy = useSignal(false);
  const asked = useSignal<{ verb: 'restore' | 'remove'; snapshot: SnapshotObject } | undefined>(undefined);
  const why = whyNotChange(id);
  const field = useRef<HTMLInputElement>(null);
  const saveFirst = useRef<HTMLInputElement>(null);
  const offered = useRef('');
  const taken = (): string[] => (list.value ?? []).map((snapshot) => snapshot.name);
  /** Offers a name to accept or to type over. */
  const offer = (): void => {
    const { current: input } = field;
    if (!input || !list.value || input.value !== offered.current) return;
    offered.current = freeName(words.defaultName, taken());
    input.value = offered.current;
    input.select();
  };
  useEffect(offer, [list.value]);

  const attempt = async (task: () => Promise<unknown>): Promise<boolean> => {
    isBusy.value = true;
    const isDone = await attempted(message, async () => {
      await task();
      list.value = await api.get<SnapshotObject[]>(path);
    });
    isBusy.value = false;
    return isDone;
  };
  const read = (): void => void attempt(() => Promise.resolve());
  useEffect(read, [id]);

  const save = (called: string, running: boolean): Promise<unknown> =>
    begin({ kind: 'snapshot', name: called, projectId: id }, (operation) =>
      api.post(path, { name: called, running }, operation),
    );
  const make = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const data = new FormData(form);
    if (await attempt(() => save(String(data.get('name')), data.has('running')))) {
      form.reset();
      offered.current = '';
      offer();
    }
  };

  const confirm = (): void => {
    const { verb, snapshot } = asked.value!;
    const isSaved = saveFirst.current?.checked === true;
    asked.value = undefined;
    const { snapshot_id: snapshotId, name: called } = snapshot;
    void attempt(async () => {
      if (verb === 'remove') return api.delete(`${path}/${snapshotId}`);
      if (isSaved)
        await save(
          freeName((number) => words.savedName(called, number), taken()),
          true,
        );
      return begin({ kind: 'restore', name: called, projectId: id }, (operation) =>
        api.post(`${path}/${snapshotId}/restore`, {}, operation),
      );
    });
  };

  return (
    <Dialog title={words.of(name)} close={close} class="wide">
      <div class="asking">
        <h2>{words.of(name)}</h2>
        {why !== '' && <p class="hint">{why}</p>}
        <form class="tools" hidden={why !== ''} onSubmit={(event) => void make(event)}>
          <label>
            <span class="hidden">{words.name}</span>
            <input ref={field} name="name" required placeholder={words.name} autocomplete="off" />
          </label>
          <Button type="submit" class="main" disabled={isBusy.value} text={words.make} />
          <label class="switch">
            <input type="checkbox" name="running" defaultChecked /> {words.running}
          </label>
        </form>
        <Message text={message.value} {...(!list.value && { again: read })} />
        {list.value?.length === 0 && <p>{words.none}</p>}
        {list.value && list.value.length > 0 && (
          <table>
            <thead>
              <tr>
                <th scope="col">{WORDS.common.name}</th>
                <th scope="col">{words.made}</th>
                {why === '' && <th scope="col">{WORDS.common.actions}</th>}
              </tr>
            </thead>
            <tbody>
              {list.value.map((snapshot) => (
                <tr key={snapshot.snapshot_id}>
                  <th scope="row">{snapshot.name}</th>
                  <td>{dateInWords(new Date(snapshot.created_at * 1000))}</td>
                  <td hidden={why !== ''}>
                    <div class="actions">
                      {(['restore', 'remove'] as const).map((verb) => {
                        const text = verb === 'restore' ? words.restore : WORDS.common.remove;
                        return (
                          <Button
                            key={verb}
                            class={verb === 'remove' ? 'danger' : undefined}
                            disabled={isBusy.value}
                            aria-label={`${text} ${snapshot.name}`}
                            onClick={setTo(asked, { verb, snapshot })}
                            text={text}
                          />
                        );
                      })}
                    </div>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        {asked.value && (
          <div class="question" role="alertdialog" aria-label={words.title}>
            <p>{words[asked.value.verb === 'restore' ? 'askRestore' : 'askRemove'](asked.value.snapshot.name)}</p>
            {asked.value.verb === 'restore' && (
              <label class="switch">
                <input ref={saveFirst} type="checkbox" defaultChecked /> {words.saveFirst}
              </label>
            )}
            <div class="actions">
              <Button
                class="main danger"
                onClick={confirm}
                text={asked.value.verb === 'restore' ? words.restore : WORDS.common.remove}
              />
              <button type="button" ref={(element) => element?.focus()} onClick={setTo(asked, undefined)}>
                {WORDS.common.cancel}
              </button>
            </div>
          </div>
        )}
        <div class="actions">
          <Button onClick={close} text={WORDS.common.close} />
        </div>
      </div>
    </Dialog>
  );
}
