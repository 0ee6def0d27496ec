// GNS3's filters, which apply to both directions; collapsible.
import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import type { FilterDescription } from '../../../../api/routes/links.ts';
import { typedSince } from '../../../forms/values.ts';
import type { LabContext } from '../../../lab-context.ts';
import { api } from '../../../model/server/api.ts';
import { attempted } from '../../../model/server/attempt.ts';
import { useLoaded } from '../../../model/server/loaded.ts';
import type { LinkObject } from '../../../model/server/types.ts';
import { WORDS } from '../../../words.ts';
import { Button } from '../../button.tsx';
import { Message } from '../../message.tsx';
import { Changing } from '../changing.tsx';

const words = WORDS.filters;

type Typed = Readonly<Record<string, readonly string[]>>;

export function Filters({ context, link }: { context: LabContext; link: LinkObject }) {
  const { lab, history } = context;
  const path = `${lab.path}/links/${link.link_id}`;
  const loaded = useLoaded(() => api.get<FilterDescription[]>(`${path}/available_filters`), [path]);
  const filters = loaded.value.value ?? [];
  const typed = useSignal<Typed>({});
  const problem = useSignal('');
  const shown = (type: string, index: number): string =>
    typed.value[type]?.[index] ?? String((link.filters[type] as unknown[] | undefined)?.[index] ?? '');
  const apply = async (event: Event): Promise<void> => {
    event.preventDefault();
    const sent = typed.value;
    const wanted: Record<string, unknown[]> = { ...(link.filters as Record<string, unknown[]>) };
    for (const { type, parameters } of filters) {
      if (!typed.value[type]) continue;
      const values = parameters.map((parameter, index) => sentOf(parameter, shown(type, index)));
      if (values.every((value) => value === '')) delete wanted[type];
      else wanted[type] = values.map((value, index) => (value === '' && parameters[index]!.type === 'int' ? 0 : value));
    }
    await attempted(problem, async () => {
      await history.update([{ kind: 'link', id: link.link_id, fields: { filters: wanted } }]);
      typed.value = typedSince(typed.value, sent);
    });
  };
  if (filters.length === 0) return <Message text={loaded.problem.value} again={loaded.again} />;
  const changes = Object.keys(typed.value).length;
  return (
    <details class="filters">
      <summary>
        {words.title} {Object.keys(link.filters).length > 0 && `(${Object.keys(link.filters).length})`}
      </summary>
      <form onSubmit={(event) => void apply(event)}>
        <Changing context={context}>
          {filters.map(({ type, name, description, parameters }) => (
            <fieldset key={type}>
              <legend title={description}>{name}</legend>
              {parameters.map((parameter, index) => (
                <Input
                  key={parameter.name}
                  parameter={parameter}
                  value={shown(type, index)}
                  change={(text) => {
                    const values = parameters.map((_, at) => (at === index ? text : shown(type, at)));
                    typed.value = { ...typed.value, [type]: values };
                  }}
                />
              ))}
            </fieldset>
          ))}
          <p class="problem" role="alert">
            {problem}
          </p>
          {changes > 0 && (
            <p class="apply">
              {WORDS.impairments.changes(changes)} <Button type="submit" class="main" text={WORDS.impairments.apply} />{' '}
              <Button
                onClick={() => {
                  typed.value = {};
                  problem.value = '';
                }}
                text={WORDS.impairments.discard}
              />
            </p>
          )}
        </Changing>
      </form>
    </details>
  );
}

type Parameter = FilterDescription['parameters'][number];

interface InputProps {
  parameter: Parameter;
  value: string;
  change: (text: string) => void;
}

function Input({ parameter, value, change }: InputProps) {
  const id = useId();
  const common = { id, value, spellcheck: false };
  return (
    <p>
      <label for={id}>
        {parameter.name} <small>{rangeOf(parameter)}</small>
      </label>{' '}
      {parameter.type === 'text' ? (
        <textarea {...common} rows={2} onInput={({ currentTarget }) => change(currentTarget.value)} />
      ) : (
        <input
          {...common}
          class="small"
          inputMode="numeric"
          autocomplete="off"
          onInput={({ currentTarget }) => change(currentTarget.value)}
        />
      )}
    </p>
  );
}

function rangeOf(parameter: Parameter): string {
  return parameter.type === 'text' ? '' : `${parameter.minimum} – ${parameter.maximum} ${parameter.unit}`;
}

/** Text that is no number is sent unchanged, so that the server explains the error. */
function sentOf({ type }: Parameter, text: string): string | number {
  if (type === 'text' || text.trim() === '') return text.trim();
  const number = Number(text);
  return Number.isNaN(number) ? text : number;
}
