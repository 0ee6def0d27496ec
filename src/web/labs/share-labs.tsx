// Sharing of labs: with everybody, groups or single accounts, for watching or changing.
import { useSignal } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import type { Access } from '../../api/accounts.ts';
import type { AccountObject, SharingObject } from '../../api/routes/accounts.ts';
import { api } from '../model/server/api.ts';
import { useLoaded } from '../model/server/loaded.ts';
import type { ProjectObject } from '../model/server/types.ts';
import { Button } from '../panels/button.tsx';
import { forEachNamed } from '../panels/for-each-named.ts';
import { SearchField } from '../panels/search-field.tsx';
import { WORDS } from '../words.ts';
import { Asking } from './asking.tsx';
import { ReadingDialog } from './reading-dialog.tsx';

const words = WORDS.sharing;

const ACCESSES: readonly Access[] = ['none', 'watch', 'change'];
/** Rows that need no search. */
const FEW = 6;

interface SharedLab {
  name: string;
  path: string;
  sharing: SharingObject;
}

/** Loaded before the form is shown. */
interface Known {
  labs: readonly SharedLab[];
  accounts: readonly AccountObject[];
  groups: readonly { name: string; accounts: string[] }[];
}

interface ShareLabsProps {
  projects: readonly ProjectObject[];
  close(): void;
}

export function ShareLabs({ projects, close }: ShareLabsProps) {
  const {
    value: known,
    problem,
    again,
  } = useLoaded(async (): Promise<Known> => {
    const readLab = async ({ name, project_id: id }: ProjectObject): Promise<SharedLab> => {
      const path = `/projects/${id}/sharing`;
      return { name, path, sharing: await api.get<SharingObject>(path) };
    };
    const [labs, accounts, groups] = await Promise.all([
      Promise.all(projects.map(readLab)),
      api.get<AccountObject[]>('/accounts'),
      api.get<Known['groups']>('/groups'),
    ]);
    const isShown = ({ name, accounts: members }: Known['groups'][number]): boolean =>
      members.length > 0 || labs.some(({ sharing }) => name in sharing.groups);
    return { labs, accounts, groups: groups.filter(isShown) };
  }, [projects]);
  const title = words.titleOf(projects.length === 1 ? projects[0]!.name : WORDS.labs.count(projects.length));
  if (known.value === undefined)
    return <ReadingDialog title={title} problem={problem.value} again={again} close={close} />;
  return <SharingForm title={title} known={known.value} close={close} />;
}

function SharingForm({
  title,
  known: { labs, accounts, groups },
  close,
}: {
  title: string;
  known: Known;
  close(): void;
}) {
  const left = useMemo(() => new Set(labs), [labs]);
  const mayShare = labs.every(({ sharing }) => sharing.may_share);
  // Admins and the owner already have all rights.
  const others = accounts.filter(
    ({ name, role }) => role !== 'admin' && labs.some(({ sharing: { owner } }) => owner !== name),
  );
  const rows: readonly SharingRow[] = [
    {
      label: words.everybody,
      kind: 'everybody',
      of: 'everybody',
      values: rightsOf(labs, ({ everybody }) => everybody),
    },
    ...groups.map(({ name }) => ({
      label: words.group(name),
      kind: 'groups' as const,
      of: name,
      values: rightsOf(labs, (one) => one.groups[name] ?? 'none'),
    })),
    ...others.map(({ name }) => ({
      label: String(name),
      kind: 'update' as const,
      of: String(name),
      values: rightsOf(labs, (one) => (one.owner === name ? undefined : (one.accounts[String(name)] ?? 'none'))),
    })),
  ];
  const submit = (data: FormData, closed: AbortSignal): Promise<unknown> => {
    // Other rows stay as they are in each lab, also if another client has changed them meanwhile.
    const changed = rows.filter((row) => {
      const chosen = data.get(fieldOf(row)) as Access | null;
      return chosen !== null && !(row.values.size === 1 && row.values.has(chosen));
    });
    const chosen = (kind: SharingRow['kind'], but?: string | null): object =>
      Object.fromEntries(
        changed.filter((row) => row.kind === kind && row.of !== but).map((row) => [row.of, data.get(fieldOf(row))]),
      );
    return forEachNamed(
      left,
      ({ path, sharing: { owner } }) =>
        api.put(path, { ...chosen('everybody'), update: chosen('update', owner), groups: chosen('groups') }),
      closed,
    );
  };
  const owners = new Set(labs.map(({ sharing }) => sharing.owner));
  const [owner = null] = owners;
  return (
    <Asking title={title} verb={WORDS.common.save} close={close} submit={submit}>
      <p>{owners.size > 1 ? words.severalOwners : owner === null ? words.noOwner : words.ownedBy(owner)}</p>
      {!mayShare && <p class="hint">{words.mayNot}</p>}
      <SharingTable rows={rows} mayShare={mayShare} />
    </Asking>
  );
}

interface SharingRow {
  label: string;
  /** Where the body of the request has it, and under which name. */
  kind: 'everybody' | 'groups' | 'update';
  of: string;
  /** The rights that the labs give now; several if they differ. */
  values: ReadonlySet<Access>;
}

/** The name of the form's field. */
const fieldOf = ({ kind, of }: SharingRow): string => `${kind} ${of}`;

function rightsOf(labs: readonly SharedLab[], access: (sharing: SharingObject) => Access | undefined): Set<Access> {
  return new Set(labs.flatMap(({ sharing }) => access(sharing) ?? []));
}

/** Everybody, groups and accounts with what they may do; of labs that differ nothing is chosen, and each keeps what it has. */
function SharingTable({ rows, mayShare }: { rows: readonly SharingRow[]; mayShare: boolean }) {
  const typed = useSignal('');
  const body = useRef<HTMLTableSectionElement>(null);
  const isHidden = ({ label }: SharingRow): boolean => !label.toLowerCase().includes(typed.value.toLowerCase());
  /** For all rows that are shown, without everybody. */
  const chooseForAll = (access: Access): void => {
    const shown = 'tr:not([hidden]) input:not([name^="everybody "])';
    for (const input of body.current?.querySelectorAll<HTMLInputElement>(shown) ?? [])
      if (input.value === access) input.checked = true;
  };
  return (
    <>
      {rows.length > FEW && <SearchField typed={typed} />}
      <div class="scroll">
        <table class="plain choices">
          <thead>
            <tr>
              <th scope="col">{WORDS.common.name}</th>
              {ACCESSES.map((access) => (
                <th key={access} scope="col">
                  {rows.length > FEW && mayShare ? (
                    <Button
                      class="quiet"
                      title={words.forAllShown}
                      onClick={() => chooseForAll(access)}
                      text={words.accesses[access]}
                    />
                  ) : (
                    words.accesses[access]
                  )}
                </th>
              ))}
            </tr>
          </thead>
          <tbody ref={body}>
            {rows.map((row) => (
              // Hidden ones stay in the form.
              <tr key={fieldOf(row)} hidden={isHidden(row)}>
                <th scope="row">{row.label}</th>
                {ACCESSES.map((access) => (
                  <td key={access}>
                    <input
                      type="radio"
                      name={fieldOf(row)}
                      value={access}
                      aria-label={`${row.label} ${words.accesses[access]}`}
                      defaultChecked={row.values.size === 1 && row.values.has(access)}
                      disabled={!mayShare}
                    />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
