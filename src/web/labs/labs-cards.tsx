// The labs as cards with pictures of their maps.
import { useSignal } from '@preact/signals';
import { setTo } from '../model/browser/signal-handlers.ts';
import type { LabRow } from '../model/lab/lab-rows.ts';
import { Link } from '../panels/link.tsx';
import { WindowedList } from '../panels/long-list.tsx';
import { WORDS } from '../words.ts';
import {
  Changed,
  FolderButton,
  keyOfRow,
  LabActions,
  type LabListProps,
  LabName,
  LabState,
  nodesInWords,
  SelectLab,
} from './lab-parts.tsx';

const words = WORDS.labs;

/** Expected height that a card adds to the list (pixels), with some five in a row. */
const HEIGHT = 50;

export function LabsCards(props: LabListProps) {
  const { rows, closed } = props;
  return (
    <WindowedList
      class="cards"
      items={rows}
      keyOf={keyOfRow}
      height={HEIGHT}
      row={(row) =>
        row.kind === 'folder' ? <FolderButton row={row} closed={closed} /> : <Card {...props} row={row} />
      }
    />
  );
}

function Card({ row, rows, selected, attempt }: LabListProps & { row: LabRow }) {
  const { project, owner, changed } = row;
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
        <span title={words.running}>{nodesInWords(row)}</span>
        <span title={words.owner}>{owner}</span>
        <Changed at={changed} />
      </p>
      <LabActions row={row} attempt={attempt} shown={1} />
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
        <img src={address} alt="" width={320} height={180} loading="lazy" onError={setTo(missing, address)} />
      )}
    </Link>
  );
}
