// The labs as cards with pictures of their maps.
import { useSignal } from '@preact/signals';
import type { LabRow } from '../model/lab/lab-rows.ts';
import { Link } from '../panels/link.tsx';
import { WindowedList } from '../panels/long-list.tsx';
import { MenuButton } from '../panels/menu-button.tsx';
import { WORDS } from '../words.ts';
import {
  Changed,
  FolderButton,
  keyOfRow,
  type LabListProps,
  LabName,
  LabState,
  labActions,
  nodesInWords,
  SelectLab,
  sortKeys,
} from './lab-parts.tsx';

const words = WORDS.labs;

/** Expected height that a card adds to the list (pixels), with some five in a row. */
const HEIGHT = 50;

export function LabsCards(props: LabListProps) {
  const { rows, order, closed } = props;
  const { key: sorted, isDown } = order.value;
  return (
    <>
      <p class="tools sorting">
        <label>
          {words.sortBy}{' '}
          <select
            value={sorted}
            onChange={({ currentTarget: { selectedIndex } }) => {
              order.value = { key: sortKeys()[selectedIndex]![0], isDown: false };
            }}
          >
            {sortKeys().map(([key, title]) => (
              <option key={key} value={key}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <button
          type="button"
          aria-pressed={isDown}
          aria-label={words.reverse}
          title={words.reverse}
          onClick={() => {
            order.value = { key: sorted, isDown: !isDown };
          }}
        >
          <span aria-hidden="true">{isDown ? '↓' : '↑'}</span>
        </button>
      </p>
      <WindowedList
        class="cards"
        items={rows}
        keyOf={keyOfRow}
        height={HEIGHT}
        row={(row) =>
          row.kind === 'folder' ? <FolderButton row={row} closed={closed} /> : <Card {...props} row={row} />
        }
      />
    </>
  );
}

function Card({ row, rows, selected, attempt }: LabListProps & { row: LabRow }) {
  const { project, owner, changed } = row;
  const [first, ...others] = labActions(row, attempt);
  const nodes = nodesInWords(row);
  return (
    <article class="lab-card">
      {project.damaged ? <div class="thumbnail" /> : <Thumbnail row={row} />}
      <div class="lab-card-name">
        <SelectLab row={row} rows={rows} selected={selected} />
        <h2>
          <LabName row={row} />
        </h2>
      </div>
      <p>
        <span>
          <LabState project={project} />
        </span>
        {nodes !== '' && <span title={words.running}>{nodes}</span>}
        {owner !== '' && <span>{WORDS.sharing.of(owner)}</span>}
        <Changed at={changed} />
      </p>
      <div class="actions">
        {first && (
          <button
            type="button"
            class={first.isDangerous ? 'danger' : undefined}
            aria-description={project.name}
            onClick={first.run}
          >
            {first.words}
          </button>
        )}
        {others.length > 0 && <MenuButton label={words.more} about={project.name} entries={others} />}
      </div>
    </article>
  );
}

/** The link of the name is the one that keyboards and screen readers reach. */
function Thumbnail({ row: { project, changed } }: { row: LabRow }) {
  const missing = useSignal('');
  const path = `/labs/${project.project_id}`;
  // In the same element, which shows the former picture until it has the new one.
  const address = `/v2/projects/${project.project_id}/thumbnail${changed === undefined ? '' : `?changed=${changed}`}`;
  return (
    <Link to={path} class="thumbnail" isHidden>
      {missing.value !== address && (
        <img
          src={address}
          alt=""
          width={320}
          height={180}
          loading="lazy"
          onError={() => {
            missing.value = address;
          }}
        />
      )}
    </Link>
  );
}
