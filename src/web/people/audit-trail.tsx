// The audit trail, newest first, filtered by account and lab.

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { AuditLine } from '../../api/objects.ts';
import type { Account } from '../../api/routes/accounts.ts';
import { compareNames } from '../language.ts';
import { api } from '../model/server/api.ts';
import { useLoaded } from '../model/server/loaded.ts';
import type { ProjectObject } from '../model/server/types.ts';
import { Button } from '../panels/button.tsx';
import { Choice } from '../panels/choice.tsx';
import { Columns } from '../panels/columns.tsx';
import { Message } from '../panels/message.tsx';
import { Reading } from '../panels/reading.tsx';
import { WORDS } from '../words.ts';
import { deedOf, namesIn } from './audit-sentences.ts';
import { timeText } from './new-password.tsx';

const words = WORDS.people;
/** Lines read at a time, and at most. */
const STEP = 100;
const MOST = 10_000;

export function AuditTrail({ views }: { views: ComponentChildren }) {
  const by = useSignal('');
  const lab = useSignal('');
  const last = useSignal(STEP);
  const people = useLoaded(() => api.get<Account[]>('/accounts'), []);
  const labs = useLoaded(() => api.get<ProjectObject[]>('/projects'), []);
  const { value, problem, again } = useLoaded(async () => {
    const asked = last.value;
    const query = new URLSearchParams({
      last: String(asked),
      ...(by.value !== '' && { account: by.value }),
      ...(lab.value !== '' && { project: lab.value }),
    });
    return { asked, lines: await api.get<AuditLine[]>(`/audit?${query}`) };
  }, [by.value, lab.value, last.value]);
  const { asked = 0, lines } = value.value ?? {};
  const names = namesIn(lines ?? []);
  const projects = (labs.value.value ?? []).toSorted((one, other) => compareNames(one.name, other.name));
  return (
    <>
      <div class="tools">
        {views}
        <Choice
          label={words.account}
          all={words.everyone}
          chosen={by}
          choices={(people.value.value ?? []).map(({ name }) => [name, name])}
        />
        <Choice
          label={words.lab}
          all={words.everyLab}
          chosen={lab}
          choices={projects.map(({ project_id: id, name }) => [id, name])}
        />
        <Button onClick={again} text={words.refresh} />
      </div>
      <Message text={problem.value} again={again} />
      {lines === undefined && problem.value === '' && <Reading />}
      {lines?.length === 0 && <p class="empty">{words.noLines}</p>}
      {lines !== undefined && lines.length > 0 && (
        <>
          <table class="card rows trail" aria-label={words.audit}>
            <Columns titles={[words.time, words.who, words.what, words.status, words.from]} />
            <tbody>
              {lines.toReversed().map((line, index) => (
                <Line key={`${line.time} ${line.request ?? ''} ${lines.length - index}`} line={line} names={names} />
              ))}
            </tbody>
          </table>
          {lines.length < asked || asked >= MOST ? (
            <p class="empty">{words.allShown}</p>
          ) : (
            <Button
              onClick={() => {
                last.value = Math.min(MOST, last.value + STEP);
              }}
              text={words.more}
            />
          )}
        </>
      )}
    </>
  );
}

function Line({ line, names }: { line: AuditLine; names: ReadonlyMap<string, string> }) {
  const time = timeText(line.time);
  if (line.lost !== undefined) {
    return (
      <tr>
        <td>{time}</td>
        <td colSpan={4}>{words.lost(line.lost)}</td>
      </tr>
    );
  }
  const isDone = line.status < 400;
  return (
    <tr>
      <td data-title={words.time}>{time}</td>
      <th scope="row">
        {line.account} {line.token !== undefined && <small>{words.byToken(line.token)}</small>}
      </th>
      <td data-title={words.what}>
        <details>
          <summary>{deedOf(line, names)}</summary>
          <code>{line.action}</code>
          <dl>
            {Object.entries(line.objects).map(([member, text]) => (
              <div key={member}>
                <dt>{member}</dt>
                <dd>{text}</dd>
              </div>
            ))}
            {line.request !== undefined && (
              <div>
                <dt>{words.request}</dt>
                <dd>{line.request}</dd>
              </div>
            )}
          </dl>
        </details>
      </td>
      <td data-title={words.status} class={isDone ? undefined : 'refused'}>
        {isDone ? words.done : words.refused} {line.status > 0 && <small>{line.status}</small>}
        {line.refused !== undefined && <small> × {line.refused}</small>}
      </td>
      <td data-title={words.from}>{line.address}</td>
    </tr>
  );
}
