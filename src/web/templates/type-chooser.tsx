// The type of a new template, as cards: the usual ones first, those that this host cannot run last.
import type { UnavailableKind } from '../../api/routes/compute.ts';
import type { TemplateForm } from '../forms/document.ts';
import { Button } from '../panels/button.tsx';
import { SymbolPicture } from '../panels/symbol-picture.tsx';
import { typeTitle, WORDS } from '../words.ts';
import { keyOf } from './template-fields.ts';

const words = WORDS.templates;

interface TypeChooserProps {
  kinds: readonly TemplateForm[];
  unavailable: readonly UnavailableKind[];
  /** Undefined: back to the list. */
  choose(kind: TemplateForm | undefined): void;
}

export function TypeChooser({ kinds, unavailable, choose }: TypeChooserProps) {
  const whyNot = ({ type }: TemplateForm): string | undefined =>
    unavailable.find(({ node_type: each }) => each === type)?.hindrance ?? undefined;
  const types = Object.keys(WORDS.nodes.types);
  const ordered = kinds.toSorted((one, other) => types.indexOf(one.type) - types.indexOf(other.type));
  const cards = (shown: readonly TemplateForm[]) => (
    <ul class="cards">
      {shown.map((kind) => {
        const reason = whyNot(kind);
        const symbol = kind.fields.find(({ name }) => name === 'symbol')?.byDefault;
        return (
          <li key={keyOf(kind)}>
            <button type="button" class="type" onClick={() => choose(kind)}>
              <SymbolPicture id={String(symbol ?? ':/symbols/computer.svg')} size={40} />
              <span>
                <strong>{typeTitle(kind.type, kind.platform)}</strong>
                {reason !== undefined && <small>{reason}</small>}
              </span>
            </button>
          </li>
        );
      })}
    </ul>
  );
  const missing = ordered.filter((kind) => whyNot(kind) !== undefined);
  return (
    <section aria-label={words.make}>
      <p class="tools">
        <Button onClick={() => choose(undefined)} text={words.back} />
      </p>
      <h2>{words.chooseType}</h2>
      {cards(ordered.filter((kind) => whyNot(kind) === undefined))}
      {missing.length > 0 && <h2>{words.cannotRun}</h2>}
      {missing.length > 0 && cards(missing)}
    </section>
  );
}
