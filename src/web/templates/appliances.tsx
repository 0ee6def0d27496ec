// The appliance catalogue: filter by category and text, see missing images per version, create the template.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Match } from '../../api/routes/appliances.ts';
import { compareNames } from '../language.ts';
import { whyNot } from '../model/account/permissions.ts';
import { bytesInWords } from '../model/browser/byte-sizes.ts';
import { api } from '../model/server/api.ts';
import { useLoaded } from '../model/server/loaded.ts';
import { sentenceOf } from '../model/server/sentence.ts';
import { Button } from '../panels/button.tsx';
import { Choice } from '../panels/choice.tsx';
import { WindowedList } from '../panels/long-list.tsx';
import { Message } from '../panels/message.tsx';
import { SearchField } from '../panels/search-field.tsx';
import { SymbolPicture } from '../panels/symbol-picture.tsx';
import { typeInWords, WORDS } from '../words.ts';

const words = WORDS.templates;

interface AppliancesProps {
  hosts: readonly string[];
  made(): void;
  /** Leads back to the templates. */
  views: ComponentChildren;
}

export function Appliances({ hosts, made, views }: AppliancesProps) {
  const host = useSignal('local');
  const typed = useSignal('');
  const category = useSignal('');
  const onlyComplete = useSignal(false);
  const message = useSignal('');
  const told = useSignal('');
  const { value, problem, again } = useLoaded(
    () => api.get<Match[]>(`/appliances/matches?all=yes&compute_id=${encodeURIComponent(host.value)}`),
    [host.value],
  );
  const versions = value.value ?? [];
  const categories = [...new Set(versions.map((each) => each.category))].sort();
  const found = [
    ...Map.groupBy(
      versions.filter(
        (each) =>
          (category.value === '' || each.category === category.value) &&
          `${each.name} ${each.vendor} ${each.emulator} ${typeInWords(each.emulator)} ${each.images.map(({ filename }) => filename).join(' ')}`
            .toLowerCase()
            .includes(typed.value.toLowerCase()),
      ),
      ({ appliance_id: id }) => id,
    ).values(),
  ]
    .filter((group) => !onlyComplete.value || isReady(group))
    .sort(([one], [other]) => compareNames(one!.name, other!.name));
  const make = async ({ appliance_id: id, version, name }: Match): Promise<void> => {
    message.value = '';
    told.value = '';
    try {
      const body = { compute_id: host.value, ...(version !== null && { version }) };
      const template = await api.post<{ name: string }>(`/appliances/${id}/template`, body);
      told.value = words.made(template.name);
      made();
    } catch (error) {
      message.value = `${name}: ${sentenceOf(error)}`;
    }
  };
  return (
    <>
      <div class="tools">
        {views}
        <Choice label={words.category} all={words.all} choices={shown(categories)} chosen={category} />
        {hosts.length > 1 && <Choice label={words.host} choices={shown(hosts)} chosen={host} />}
        <label>
          <input
            type="checkbox"
            onChange={({ currentTarget }) => {
              onlyComplete.value = currentTarget.checked;
            }}
          />{' '}
          {words.onlyComplete}
        </label>
        <Button onClick={again} text={words.again} />
        <SearchField typed={typed} />
      </div>
      <Message text={message.value} />
      <Message text={problem.value} again={again} />
      <p class="busy" role="status">
        {told.value || (value.value ? words.found(found.length) : problem.value === '' && WORDS.node.loading)}
      </p>
      <WindowedList
        class="cards appliances"
        items={rowsOf(found)}
        keyOf={({ key }) => key}
        height={30}
        row={(row) =>
          'title' in row ? (
            <h2>
              {row.title} <small>{row.count}</small>
            </h2>
          ) : (
            <ApplianceCard versions={row.versions} isOpen={found.length === 1} make={make} />
          )
        }
      />
    </>
  );
}

/** The title of a group, or an appliance with its versions. */
type Row = { key: string; title: string; count: number } | { key: string; versions: readonly Match[] };

const isReady = (versions: readonly Match[]): boolean => versions.some(({ complete }) => complete);

/** What is ready first, then the makers by name; those of a single appliance come together at the end. */
function rowsOf(appliances: readonly (readonly Match[])[]): Row[] {
  const [ready, others] = [true, false].map((is) => appliances.filter((each) => isReady(each) === is));
  const makers = [...Map.groupBy(others!, ([version]) => version!.vendor)];
  const large = makers.filter(([vendor, own]) => vendor !== '' && own.length > 1);
  const rest = makers.filter((maker) => !large.includes(maker)).flatMap(([, own]) => own);
  const groups: [title: string, own: readonly (readonly Match[])[]][] = [
    [words.ready, ready!],
    ...large.toSorted(([one], [other]) => compareNames(one, other)),
    [words.otherMakers, rest],
  ];
  return groups.flatMap(([title, own]): Row[] =>
    own.length === 0
      ? []
      : [
          { key: `group ${title}`, title, count: own.length },
          ...own.map((versions) => ({ key: versions[0]!.appliance_id, versions })),
        ],
  );
}

interface ApplianceCardProps {
  versions: readonly Match[];
  isOpen: boolean;
  make(version: Match): Promise<void>;
}

function ApplianceCard({ versions, isOpen, make }: ApplianceCardProps) {
  const { name, symbol, category, emulator } = versions[0]!;
  return (
    <details open={isOpen}>
      <summary>
        <SymbolPicture id={symbol} size={36} isLazy />
        <span>
          <strong>{name}</strong>
          <small>
            {category.replaceAll('_', ' ')} · {typeInWords(emulator)}
          </small>
        </span>
        {isReady(versions) && <small class="tag ready">{words.complete}</small>}
      </summary>
      {versions.map((version) => (
        <VersionView key={version.version} version={version} make={() => void make(version)} />
      ))}
    </details>
  );
}

function VersionView({ version, make }: { version: Match; make: () => void }) {
  const { version: number, complete, images } = version;
  // A container's image is pulled when a node needs it.
  const canMake = complete || number === null;
  return (
    <section class="version">
      <h2>
        {number ?? version.images[0]?.filename}{' '}
        <Button
          class="main"
          disabled={!canMake}
          hidden={whyNot('administer') !== ''}
          onClick={make}
          aria-label={words.makeTemplateOf(`${version.name} ${number ?? ''}`.trim())}
          text={words.makeTemplate}
        />
      </h2>
      <ul>
        {images.map(({ filename, md5sum, filesize, download_url: url, path }) => (
          <li key={filename}>
            {path === null ? (number === null ? words.pulled : words.missing) : words.there}: {filename}{' '}
            <small>
              {filesize !== null && bytesInWords(filesize)} {md5sum !== null && `MD5 ${md5sum}`} {path !== null && path}
            </small>{' '}
            {path === null && url !== null && /^https?:/.test(url) && (
              <a href={url} target="_blank" rel="noopener noreferrer">
                {words.maker}
              </a>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Choices from their labels. */
function shown(names: readonly string[]): [string, string][] {
  return names.map((name) => [name, name.replaceAll('_', ' ')]);
}
