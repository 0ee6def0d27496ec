// The options of a capture before it starts: file format, filter, bytes per frame, and a ring of files.
import { useMemo } from 'preact/hooks';
import { captureMembers } from '../../../forms/document.ts';
import { FormView } from '../../../forms/form-view.tsx';
import { FormModel } from '../../../forms/model.ts';
import type { Field } from '../../../forms/schema.ts';
import { useLoaded } from '../../../model/server/loaded.ts';
import type { LinkObject } from '../../../model/server/types.ts';
import { startCapture } from '../../../verbs/link.ts';
import { WORDS } from '../../../words.ts';
import { Message } from '../../message.tsx';
import type { TabProps } from '../tabs.tsx';

const words = WORDS.capture;

/** The fields in the page's order, with its labels. */
async function wantedFields(): Promise<Field[]> {
  const members = await captureMembers();
  return Object.entries(words.fields).flatMap(([name, texts]) => {
    const field = members.find((member) => member.name === name);
    return field ? [{ ...field, ...texts }] : [];
  });
}

export function CaptureForm({ context, object: link }: TabProps<LinkObject>) {
  const { value: fields, problem, again } = useLoaded(wantedFields, []);
  const form = useMemo(
    () => fields.value && new FormModel({ fields: fields.value, base: {}, words: WORDS.forms.problems }),
    [fields.value],
  );
  if (problem.value) return <Message text={problem.value} again={again} />;
  if (!form) return null;
  const start = async (changes: Record<string, unknown>): Promise<undefined> => {
    await startCapture(context, link, changes);
  };
  return <FormView form={form} save={start} saveWords={words.start} />;
}
