// The hosts that run nodes: register, change, remove; their load and the kinds of nodes that they can run.

import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { hostInUrl } from '../../api/host-in-url.ts';
import type { ClusterHost, ClusterObject, ComputeObject, Drained, HostLoad } from '../../api/objects.ts';
import { AUTO_ID } from '../../api/placement.ts';
import { hostMembers } from '../forms/document.ts';
import { FormView } from '../forms/form-view.tsx';
import { FormModel } from '../forms/model.ts';
import { compareNames, timeInWords } from '../language.ts';
import { whyNot } from '../model/account/permissions.ts';
import { bytesInWords } from '../model/browser/byte-sizes.ts';
import { setTo } from '../model/browser/signal-handlers.ts';
import { randomId } from '../model/browser/uuid.ts';
import { api } from '../model/server/api.ts';
import { attempted } from '../model/server/attempt.ts';
import { Collection } from '../model/server/collection.ts';
import { useLoaded } from '../model/server/loaded.ts';
import { unavailableKindsOf } from '../model/server/unavailable-kinds.ts';
import { Button } from '../panels/button.tsx';
import { Message } from '../panels/message.tsx';
import { PageHeader } from '../panels/page-header.tsx';
import { confirmed } from '../tasks/dialogs.tsx';
import { begin } from '../tasks/page-tasks.ts';
import { typeTitle, WORDS } from '../words.ts';

const words = WORDS.hosts;
const EVERY_MS = 5_000;
const DEFAULTS = { protocol: 'http', port: 3080 };

/** The choice `auto` is no host. */
const isHost = ({ compute_id: id }: ComputeObject): boolean => id !== AUTO_ID;

export function HostsScreen() {
  const hosts = useMemo(() => new Collection<ComputeObject>('/computes', 'compute'), []);
  const edited = useSignal<ComputeObject | 'new' | undefined>(undefined);
  const message = useSignal('');
  const statistics = useLoaded(() => api.get<HostLoad[]>('/statistics'), [], EVERY_MS);
  // A server without a cluster is in none until it is restarted.
  const isInCluster = useSignal(false);
  const cluster = useLoaded(
    async () => {
      const answer = await api.get<ClusterObject>('/cluster');
      isInCluster.value = answer.name !== null;
      return answer;
    },
    [],
    isInCluster.value ? EVERY_MS : undefined,
  );
  /** When each host last became reachable or unreachable while shown, by id. */
  const since = useMemo(() => new Map<string, Date>(), []);
  useEffect(() => {
    hosts.events.start();
    return () => hosts.events.stop();
  }, [hosts]);
  const known = useMemo(() => new Map<string, boolean>(), []);
  for (const { compute_id: id, connected } of hosts.list.value ?? []) {
    if (known.has(id) && known.get(id) !== connected) since.set(id, new Date());
    known.set(id, connected);
  }
  const memberOf = ({ compute_id: id }: ComputeObject): ClusterHost | undefined =>
    cluster.value.value?.hosts.find((host) => host.compute_id === id);
  const remove = async (host: ComputeObject): Promise<void> => {
    const { compute_id: id, name } = host;
    const [verb, text] = memberOf(host)
      ? [words.cluster.forget, words.cluster.askForget(name)]
      : [words.remove, words.askRemove(name)];
    const question = { title: `${verb} ${name}`, text, verb };
    if (!(await confirmed(question))) return;
    await attempted(message, async () => {
      await api.delete(`/computes/${encodeURIComponent(id)}${memberOf(host) ? '?forget=yes' : ''}`);
      await hosts.read();
    });
  };
  const drain = async ({ compute_id: id, name, draining }: ComputeObject): Promise<void> => {
    const question = { title: `${words.drain} ${name}`, text: words.askDrain(name), verb: words.drain };
    if (!draining && !(await confirmed(question))) return;
    await attempted(message, async () => {
      const path = `/computes/${encodeURIComponent(id)}`;
      const drained = draining
        ? await api.post<Drained>(`${path}/undrain`)
        : await begin({ kind: 'drain', name }, (operation) => api.post<Drained>(`${path}/drain`, {}, operation));
      const { left = [], next_controller: next } = drained ?? {};
      const stay = left.length > 0 ? words.leftThere(left.map((one) => `${one.name}: ${one.reason}`).join('; ')) : '';
      message.value = [stay, next === undefined ? '' : words.cluster.nextController(next)].filter(Boolean).join(' ');
      await hosts.read();
    });
  };
  const why = whyNot('administer');
  return (
    <div class="screen">
      <PageHeader title={words.title} events={hosts.events} />
      <main>
        {why !== '' && <p class="reason">{why}</p>}
        <p class="tools" hidden={why !== ''}>
          <Button class="main" onClick={setTo(edited, 'new')} text={words.add} />
        </p>
        <Message text={message.value} />
        <Message text={hosts.problem.value} again={() => hosts.read()} />
        {edited.value && (
          <HostEditor
            key={edited.value === 'new' ? 'new' : edited.value.compute_id}
            host={edited.value === 'new' ? undefined : edited.value}
            close={() => {
              edited.value = undefined;
              void hosts.read();
            }}
          />
        )}
        <ul class="hosts">
          {(hosts.list.value ?? []).filter(isHost).map((host) => (
            <li key={host.compute_id}>
              <HostView
                host={host}
                member={memberOf(host)}
                since={since.get(host.compute_id)}
                statistics={statistics.value.value?.find(({ compute_id: id }) => id === host.compute_id)?.statistics}
              />
              {why === '' && (
                <p class="tools">
                  <Button onClick={() => void drain(host)} text={host.draining ? words.undrain : words.drain} />
                </p>
              )}
              {host.compute_id !== 'local' && why === '' && (
                <p class="tools">
                  {!memberOf(host) && <Button onClick={setTo(edited, host)} text={words.edit} />}
                  <Button
                    class="danger"
                    onClick={() => void remove(host)}
                    text={memberOf(host) ? words.cluster.forget : words.remove}
                  />
                </p>
              )}
            </li>
          ))}
        </ul>
      </main>
    </div>
  );
}

interface HostViewProps {
  host: ComputeObject;
  /** What its cluster says of it. */
  member: ClusterHost | undefined;
  since: Date | undefined;
  statistics: HostLoad['statistics'] | undefined;
}

function HostView({ host, member, since, statistics }: HostViewProps) {
  const { name, protocol, host: address, port, connected, last_error: error, draining, capabilities } = host;
  const unavailable = useLoaded(
    () => (connected ? unavailableKindsOf(host.compute_id) : Promise.resolve([])),
    [host.compute_id, connected],
  );
  const reasons = new Map((unavailable.value.value ?? []).map(({ node_type: type, hindrance }) => [type, hindrance]));
  const percent = (value: number | null | undefined): string => (value == null ? '–' : `${Math.round(value)} %`);
  return (
    <section aria-label={name}>
      <h2>
        <span class="state" data-status={connected ? 'started' : 'stopped'} /> {name}{' '}
        <small>
          {connected ? words.reachable : words.unreachable} {since && words.since(timeInWords(since))}
        </small>
      </h2>
      {draining && <p class="reason">{words.draining}</p>}
      {member?.outside_closed && <p class="reason">{words.cluster.outsideClosed}</p>}
      {error && <p class="problem">{error}</p>}
      <dl>
        <dt>{words.address}</dt>
        <dd>
          {protocol}://{hostInUrl(address)}:{port}
        </dd>
        <dt>{words.version}</dt>
        <dd>
          {capabilities.version ?? '–'}, {capabilities.platform ?? '–'}
        </dd>
        <dt>{words.load}</dt>
        <dd>
          {words.processors(percent(host.cpu_usage_percent))},{' '}
          {words.memory(percent(host.memory_usage_percent), statistics ? bytesInWords(statistics.memory_total) : '–')},{' '}
          {words.disk(percent(statistics?.disk_usage_percent))}
        </dd>
        {member && <MemberRows member={member} />}
      </dl>
      <details>
        <summary>{words.canRun}</summary>
        <ul>
          {sortedTypes(capabilities.node_types).map((type) => (
            <li key={type}>
              {typeTitle(type)}
              {reasons.get(type) != null && <span class="problem"> {reasons.get(type)}</span>}
            </li>
          ))}
        </ul>
      </details>
    </section>
  );
}

const sortedTypes = (types: readonly string[]): string[] =>
  types.toSorted((one, other) => compareNames(typeTitle(one), typeTitle(other)));

function MemberRows({ member }: { member: ClusterHost }) {
  const { is_controller: isController, standby, lease_age_seconds: age, runs_nats: runsNats, checkpoint } = member;
  const texts = words.cluster;
  const role = isController ? texts.controller : standby ? texts.standby[standby] : texts.computeOnly;
  return (
    <>
      <dt>{texts.role}</dt>
      <dd>
        {role}
        {runsNats && `, ${texts.runsNats}`}
      </dd>
      <dt>{texts.lease}</dt>
      <dd>{age === null ? texts.noLease : texts.renewed(age)}</dd>
      <dt>{texts.nodes}</dt>
      <dd>{texts.running(member.running_nodes, member.nodes)}</dd>
      <dt>{texts.checkpoint}</dt>
      <dd>{checkpoint === null ? texts.noCheckpoint : timeInWords(new Date(checkpoint))}</dd>
      <dt>{texts.frames}</dt>
      <dd>{texts.ways[member.frames]}</dd>
    </>
  );
}

function HostEditor({ host, close }: { host: ComputeObject | undefined; close: () => void }) {
  /** Also a new one that the server has registered although it refused the request, for example with a wrong password. */
  const registered = useSignal(host);
  const newId = useMemo(randomId, []);
  const loaded = useLoaded(hostMembers, []);
  const fields = loaded.value.value;
  const form = useMemo(
    () =>
      fields &&
      new FormModel({
        fields: fields
          .filter(({ name }) => name !== 'compute_id')
          .map((field) => ({
            ...field,
            group: '',
            help: host && field.name === 'password' ? words.passwordHelp : field.help,
            byDefault: DEFAULTS[field.name as keyof typeof DEFAULTS] ?? field.byDefault,
          })),
        base: { ...host },
        words: WORDS.forms.problems,
        whole: host === undefined,
      }),
    [fields, host?.compute_id],
  );
  if (loaded.problem.value !== '') return <Message text={loaded.problem.value} again={loaded.again} />;
  if (!form) return <p>{WORDS.node.loading}</p>;
  const save = async (changes: Record<string, unknown>): Promise<Record<string, unknown>> => {
    if (registered.value) return api.put(`/computes/${encodeURIComponent(registered.value.compute_id)}`, changes);
    try {
      return await api.post('/computes', { ...changes, compute_id: newId });
    } catch (error) {
      const list = await api.get<ComputeObject[]>('/computes').catch(() => []);
      registered.value = list.find(({ compute_id: id }) => id === newId);
      throw error;
    }
  };
  const title = registered.value?.name ?? words.add;
  return (
    <section class="editor" aria-label={title}>
      <h2>{title}</h2>
      <FormView form={form} save={save} saved={close} {...(!registered.value && { saveWords: words.add })} />
      <Button onClick={close} text={WORDS.common.cancel} />
    </section>
  );
}
