// The form of a new or existing template.
import { useEffect, useMemo } from 'preact/hooks';
import { settingsOf, type TemplateForm } from '../forms/document.ts';
import { useImages } from '../forms/images.ts';
import { FormModel } from '../forms/model.ts';
import { api } from '../model/server/api.ts';
import { useLoaded } from '../model/server/loaded.ts';
import { Message } from '../panels/message.tsx';
import { SymbolForm } from '../panels/symbol-form.tsx';
import { WORDS } from '../words.ts';
import { beginning, templateFields } from './template-fields.ts';

export type Template = Readonly<Record<string, unknown>> & {
  template_id: string;
  template_type: string;
  platform?: string;
  name: string;
  category: string;
  compute_id: string | null;
  symbol: string;
  builtin: boolean;
};

interface TemplateEditorProps {
  kind: TemplateForm;
  /** Undefined for a new one. */
  template: Template | undefined;
  hosts: readonly string[];
  /** The first image of a new one, which also names it. */
  image?: string | undefined;
  done: () => void;
}

const USUAL_PLATFORM = 'x86_64';
const USUAL_INTERFACE = 'ide';

export function TemplateEditor({ kind, template, hosts, image, done }: TemplateEditorProps) {
  const settings = useLoaded(() => settingsOf(kind.type), [kind.type]);
  const own = settings.value.value;
  const form = useMemo(
    () =>
      own &&
      new FormModel({
        fields: templateFields(kind, own, hosts, template === undefined),
        base: template ?? {},
        words: WORDS.forms.problems,
        whole: template === undefined,
      }),
    [own, kind, template?.template_id],
  );
  useEffect(() => {
    if (template) form?.follow(template);
  }, [form, template]);
  useEffect(() => {
    if (!form || template) return;
    const named = (wanted: string | undefined) => form.fields.find(({ name }) => name === wanted);
    const platform = named('platform');
    // Without a default among thirty.
    if (platform?.choices.includes(USUAL_PLATFORM)) form.type(platform, USUAL_PLATFORM);
    const place = form.fields.find(({ images }) => images === kind.type);
    // Without an interface a guest does not see its disk.
    const disk = named(place?.name.replace(/_image$/, '_interface'));
    if (disk?.choices.includes(USUAL_INTERFACE)) form.type(disk, USUAL_INTERFACE);
    if (image === undefined) return;
    const name = named('name');
    if (name) form.type(name, image.replace(/^.*\/|\.[^.]*$/g, ''));
    if (place) form.type(place, image);
  }, [form, template, image, kind]);
  const offers = useImages(template?.compute_id ?? hosts[0], form?.fields ?? []);
  if (settings.problem.value !== '') return <Message text={settings.problem.value} again={settings.again} />;
  if (!form) return <p>{WORDS.node.loading}</p>;
  const save = async (changes: Record<string, unknown>): Promise<Record<string, unknown>> =>
    template
      ? await api.put(`/templates/${template.template_id}`, changes)
      : await api.post('/templates', { ...beginning(kind), ...changes });
  return (
    <SymbolForm
      form={form}
      save={save}
      saved={done}
      offers={offers}
      {...(!template && { saveWords: WORDS.templates.make })}
    />
  );
}
