// Editable rows of fields, such as ports or adapters. Rows can be added, changed and removed.
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { Button } from '../panels/button.tsx';
import { WORDS } from '../words.ts';
import { Control } from './control.tsx';
import type { FormModel } from './model.ts';
import { type Field, isWanted } from './schema.ts';
import { emptyRow, type TypedRow } from './values.ts';

const words = WORDS.forms;

export interface ListControlProps {
  form: FormModel;
  field: Field;
  rows: readonly TypedRow[];
  /** Columns to omit because they follow from the row's position. */
  without?: readonly string[];
  /** The row's heading, if it follows from its position; then only the last row can be removed, so that others keep theirs. */
  heading?: { title: string; text: (row: TypedRow, index: number) => string };
  /** An additional read-only column. */
  beside?: { title: string; cell: (row: TypedRow, index: number) => ComponentChildren };
  /** Suggestions for a field of a row. */
  offers?: (field: Field, row: TypedRow) => readonly string[];
  /** Creates a new row. */
  fresh?: (rows: readonly TypedRow[]) => TypedRow;
}

export function ListControl({ form, field, rows, without = [], heading, beside, offers, fresh }: ListControlProps) {
  const id = useId();
  const columns = field.fields.filter(
    (column) => !without.includes(column.name) && !column.readOnly && rows.some((row) => isWanted(column, row)),
  );
  const change = (next: readonly TypedRow[]): void => form.type(field, next);
  const whole = form.problems.value[field.name];
  return (
    <div class="list">
      {whole !== undefined && <p class="problem">{whole}</p>}
      {rows.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        <section class="scroll" aria-label={field.label} tabIndex={0}>
          <table>
            <thead>
              <tr>
                {heading && <th scope="col">{heading.title}</th>}
                {columns.map((column) => (
                  <th key={column.name} scope="col" title={column.help}>
                    {column.label}
                  </th>
                ))}
                {beside && <th scope="col">{beside.title}</th>}
                <th scope="col">
                  <span class="hidden">{WORDS.common.actions}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row, index) => (
                <tr key={index}>
                  {heading && <th scope="row">{heading.text(row, index)}</th>}
                  {columns.map((column) => {
                    const path = `${field.name}.${index}.${column.name}`;
                    const problem = form.problems.value[path];
                    return (
                      <td key={column.name}>
                        {isWanted(column, row) && (
                          <Control
                            id={`${id}-${index}-${column.name}`}
                            field={column}
                            typed={row[column.name] ?? ''}
                            offers={offers?.(column, row) ?? []}
                            marks={{
                              'aria-label': words.ofRow(column.label, index + 1),
                              'aria-invalid': problem !== undefined,
                              'aria-describedby': `${id}-${index}-${column.name}-problem`,
                            }}
                            change={(typed) =>
                              change(
                                rows.map((each, at) =>
                                  at === index ? { ...each, [column.name]: String(typed) } : each,
                                ),
                              )
                            }
                          />
                        )}
                        <div id={`${id}-${index}-${column.name}-problem`} class="problem">
                          {problem}
                        </div>
                      </td>
                    );
                  })}
                  {beside && <td>{beside.cell(row, index)}</td>}
                  <td>
                    {(!heading || index === rows.length - 1) && (
                      <Button
                        aria-label={words.removeRow(index + 1)}
                        onClick={() => change(rows.filter((_, at) => at !== index))}
                        text="×"
                      />
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      <Button onClick={() => change([...rows, fresh?.(rows) ?? emptyRow(field)])} text={words.addRow} />
    </div>
  );
}
