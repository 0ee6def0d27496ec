// The templates of nodes: list, create, change, copy, delete; and the appliance catalogue.

import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { UnavailableKind } from '../../api/routes/compute.ts';
import { dropQuery } from '../address.ts';
import { type TemplateForm, templateForms } from '../forms/document.ts';
import { compareNames } from '../language.ts';
import { whyNot } from '../model/account/permissions.ts';
import { setTo } from '../model/browser/signal-handlers.ts';
import { api } from '../model/server/api.ts';
import { attempted } from '../model/server/attempt.ts';
import { Collection } from '../model/server/collection.ts';
import { useLoaded } from '../model/server/loaded.ts';
import { unavailableKindsOf } from '../model/server/unavailable-kinds.ts';
import { Button } from '../panels/button.tsx';
import { Columns } from '../panels/columns.tsx';
import { Message } from '../panels/message.tsx';
import { PageHeader } from '../panels/page-header.tsx';
import { SearchField } from '../panels/search-field.tsx';
import { SymbolPicture } from '../panels/symbol-picture.tsx';
import { Views } from '../panels/views.tsx';
import { confirmRemoval } from '../tasks/dialogs.tsx';
import { typeTitle, WORDS } from '../words.ts';
import { Appliances } from './appliances.tsx';
import { draftIn } from './draft-address.ts';
import { type Template, TemplateEditor } from './template-editor.tsx';
import { formOf, keyOf } from './template-fields.ts';
import { TypeChooser } from './type-chooser.tsx';

const words = WORDS.templates;

export function TemplatesScreen() {
  const templates = useMemo(() => new Collection<Template>('/templates', 'template'), []);
  const edited = useSignal<{ kind: TemplateForm; template: Template | undefined } | undefined>(undefined);
  const typed = useSignal('');
  const message = useSignal('');
  const isCatalogue = useSignal(false);
  const isChoosing = useSignal(false);
  useEffect(() => {
    templates.events.start();
    return () => templates.events.stop();
  }, [templates]);
  const forms = useLoaded(templateForms, []);
  const hosts = useLoaded(async () => {
    const computes = await api.get<{ compute_id: string }[]>('/computes');
    return computes.map(({ compute_id: id }) => id);
  }, []);
  const unavailable = useLoaded(() => unavailableKindsOf('local'), []);

  const attempt = (task: () => Promise<unknown>): Promise<boolean> =>
    attempted(message, async () => {
      await task();
      await templates.read();
    });
  /** The template that is edited, with changes of others. */
  const now = templates.list.value?.find(({ template_id: id }) => id === edited.value?.template?.template_id);
  const all = (templates.list.value ?? [])
    .filter((template) =>
      `${template.name} ${template.template_type} ${titleOf(template)}`
        .toLowerCase()
        .includes(typed.value.toLowerCase()),
    )
    .toSorted((a, b) => compareNames(a.name, b.name));
  const why = whyNot('administer');
  const kinds = forms.value.value ?? [];
  const wanted = useSignal(draftIn(location.search));
  const draft = wanted.value;
  /** Back to the list. */
  const leave = (): void => {
    edited.value = undefined;
    wanted.value = undefined;
    dropQuery();
  };
  useEffect(() => {
    const [kind, other] = kinds.filter(({ type }) => type === draft?.type);
    if (kind && other === undefined) edited.value = { kind, template: undefined };
    else if (kind) isChoosing.value = true;
  }, [kinds.length, draft, edited, isChoosing]);
  const unread = templates.problem.value || forms.problem.value || hosts.problem.value;
  const again = () => Promise.all([templates.read(), forms.again(), hosts.again()]);
  const views = <Views titles={[words.title, words.appliances]} isSecond={isCatalogue} />;
  return (
    <div class="screen">
      <PageHeader title={words.title} events={templates.events} />
      <main>
        <Message text={message.value} />
        <Message text={unread} again={again} />
        {isCatalogue.value ? (
          <Appliances hosts={hosts.value.value ?? ['local']} made={() => void templates.read()} views={views} />
        ) : isChoosing.value ? (
          <TypeChooser
            kinds={draft ? kinds.filter(({ type }) => type === draft.type) : kinds}
            unavailable={unavailable.value.value ?? []}
            choose={(kind) => {
              isChoosing.value = false;
              if (kind) edited.value = { kind, template: undefined };
              else leave();
            }}
          />
        ) : edited.value ? (
          <section class="editor" aria-label={edited.value.template?.name ?? words.make}>
            <Button onClick={leave} text={words.back} />
            <h2>
              {edited.value.template?.name ??
                words.makeOf(typeTitle(edited.value.kind.type, edited.value.kind.platform))}{' '}
              {edited.value.template?.builtin && <small>{words.builtinNote}</small>}
            </h2>
            <TemplateEditor
              key={edited.value.template?.template_id ?? keyOf(edited.value.kind)}
              kind={edited.value.kind}
              template={now ?? edited.value.template}
              image={draft?.image}
              hosts={hosts.value.value ?? ['local']}
              done={() => {
                leave();
                void templates.read();
              }}
            />
          </section>
        ) : (
          <>
            {why !== '' && <p class="reason">{why}</p>}
            <div class="tools">
              {views}
              <Button class="main" hidden={why !== ''} onClick={setTo(isChoosing, true)} text={words.make} />
              <SearchField typed={typed} />
            </div>
            <TemplatesTable
              templates={all}
              unavailable={unavailable.value.value ?? []}
              edit={(template) => {
                const kind = formOf(kinds, template);
                if (kind) edited.value = { kind, template };
              }}
              canEdit={(template) => why === '' && formOf(kinds, template) !== undefined}
              attempt={attempt}
            />
          </>
        )}
      </main>
    </div>
  );
}

const titleOf = ({ template_type: type, platform }: Template): string => typeTitle(type, platform);

interface TemplatesTableProps {
  templates: readonly Template[];
  unavailable: readonly UnavailableKind[];
  edit: (template: Template) => void;
  canEdit: (template: Template) => boolean;
  attempt: (task: () => Promise<unknown>) => Promise<boolean>;
}

function TemplatesTable({ templates, unavailable, edit, canEdit, attempt }: TemplatesTableProps) {
  return (
    <table class="card rows" aria-label={words.title}>
      <Columns titles={[WORDS.common.name, words.type, words.category, words.host, WORDS.common.actions]} />
      <tbody>
        {templates.map((template) => {
          const { template_id: id, name, template_type: type, category, compute_id: host, symbol, builtin } = template;
          const reason = unavailable.find(({ node_type: each }) => each === type)?.hindrance;
          return (
            <tr key={id}>
              <th scope="row">
                <SymbolPicture id={symbol} /> {name} {builtin && <small>{words.builtin}</small>}
              </th>
              <td data-title={words.type}>
                {titleOf(template)}
                {reason != null && (host ?? 'local') === 'local' && <p class="problem">{reason}</p>}
              </td>
              <td data-title={words.category}>{category}</td>
              <td data-title={words.host}>{host ?? words.anyHost}</td>
              <td>
                <div class="actions">
                  {canEdit(template) && (
                    <Button aria-description={name} onClick={() => edit(template)} text={words.edit} />
                  )}
                  {!builtin && whyNot('administer') === '' && (
                    <>
                      <Button
                        aria-description={name}
                        onClick={() => void attempt(() => api.post(`/templates/${id}/duplicate`))}
                        text={WORDS.common.duplicate}
                      />
                      <Button
                        class="danger"
                        aria-description={name}
                        onClick={async () => {
                          if (await confirmRemoval(name, words.askRemove(name)))
                            void attempt(() => api.delete(`/templates/${id}`));
                        }}
                        text={WORDS.common.remove}
                      />
                    </>
                  )}
                </div>
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
