// Renders the screen of the current address, and the overlays of all screens.
import { signal } from '@preact/signals';
import { type ComponentType, render } from 'preact';
import { useEffect } from 'preact/hooks';
import { address, followHistory, go } from './address.ts';
import { followLogOut } from './model/account/log-out.ts';
import { loadPart } from './model/server/lazy-load.ts';
import { browserStore, KeptUploads } from './model/transfer/kept-uploads.ts';
import { Link } from './panels/link.tsx';
import { PageHeader } from './panels/page-header.tsx';
import { SCREENS, type Screen, type ScreenProps, screenOf } from './screens.tsx';
import { entries } from './shell/bar.ts';
import { FileDrop } from './shell/file-drop.tsx';
import { LeftLabNotice } from './shell/left-lab-notice.tsx';
import { MissingLanguage } from './shell/missing-language.tsx';
import { NewVersion } from './shell/new-version.tsx';
import { Toast } from './shell/notices.tsx';
import { Overlays } from './shell/overlays.tsx';
import { startTasks } from './tasks/page-tasks.ts';
import { WORDS } from './words.ts';

/** Loaded screens; null while loading. */
const loaded = signal<ReadonlyMap<string, ComponentType<ScreenProps> | null>>(new Map());

async function load({ path, component }: Screen): Promise<void> {
  if (typeof component === 'function' || loaded.value.has(path)) return;
  const note = (found: ComponentType<ScreenProps> | null): void => {
    loaded.value = new Map(loaded.value).set(path, found);
  };
  note(null);
  note(await loadPart(component.load));
}

function Shown({ screen, ids }: { screen: Screen; ids: readonly string[] }) {
  useEffect(() => void load(screen), [screen]);
  const Component = typeof screen.component === 'function' ? screen.component : loaded.value.get(screen.path);
  return Component ? <Component ids={ids} go={go} /> : <PageHeader />;
}

function NoScreen() {
  return (
    <div class="screen">
      <PageHeader />
      <main>
        <p>
          {WORDS.page.nothingHere} <Link to="/">{WORDS.labs.title}</Link>
        </p>
      </main>
    </div>
  );
}

function Page() {
  const found = screenOf(address.value);
  return (
    <>
      <NewVersion />
      <MissingLanguage />
      <Toast />
      <LeftLabNotice />
      {found ? <Shown screen={found.screen} ids={found.ids} /> : <NoScreen />}
      <Overlays />
      <FileDrop />
    </>
  );
}

followHistory();
followLogOut();
startTasks();
// Loaded with the first upload, or to resume uploads of an earlier page.
if (new KeptUploads(browserStore()).all().length > 0) void loadPart(() => import('./tasks/image-uploads.ts'));
entries.value = SCREENS.flatMap(({ path, title, isFor = 'everybody' }) =>
  title === undefined ? [] : [{ path, title, isFor }],
);
document.getElementById('loading')?.remove();
render(<Page />, document.getElementById('app')!);
