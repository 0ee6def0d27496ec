// The screens of the page by address, one line each.
import type { ComponentType } from 'preact';
import { loadLabStyle } from './lab-style.ts';
import { LabsScreen } from './labs-screen.tsx';
import type { BarEntry } from './shell/bar.ts';
import { WORDS } from './words.ts';

export interface ScreenProps {
  /** The values of each `{id}` in the address. */
  ids: readonly string[];
  go: (path: string) => void;
}

export interface Screen {
  /** `{id}` is a UUID. */
  path: string;
  /** Title in the navigation bar; without one the screen is not listed. */
  title?: string;
  /** Who sees it in the bar; everybody by default. */
  isFor?: BarEntry['isFor'];
  /** Part of the initial bundle, or loaded on first use. */
  component: ComponentType<ScreenProps> | { load(): Promise<ComponentType<ScreenProps>> };
}

/** Another lab gets a new screen without any old state. */
async function loadLab(): Promise<ComponentType<ScreenProps>> {
  const [{ LabScreen }] = await Promise.all([import('./lab-screen.tsx'), loadLabStyle()]);
  return ({ ids: [id = ''], go }) => <LabScreen key={id} id={id} go={go} />;
}

type Load = () => Promise<ComponentType<ScreenProps>>;

function withLabStyle(load: Load): { load: Load } {
  return { load: async () => (await Promise.all([load(), loadLabStyle()]))[0] };
}

export const SCREENS: readonly Screen[] = [
  { path: '/', title: WORDS.labs.title, component: LabsScreen },
  { path: '/labs/{id}', component: { load: loadLab } },
  {
    path: '/labs/{id}/links/{id}/capture',
    component: withLabStyle(async () => (await import('./capture/capture-screen.tsx')).CaptureScreen),
  },
  {
    path: '/labs/{id}/captures',
    component: withLabStyle(async () => (await import('./capture/merged-screen.tsx')).MergedScreen),
  },
  {
    path: '/labs/{id}/nodes/{id}/console',
    component: withLabStyle(async () => (await import('./console-screen.tsx')).ConsoleScreen),
  },
  {
    path: '/templates',
    title: WORDS.templates.title,
    component: { load: async () => (await import('./templates/templates-screen.tsx')).TemplatesScreen },
  },
  {
    path: '/images',
    title: WORDS.images.title,
    component: { load: async () => (await import('./images-screen.tsx')).ImagesScreen },
  },
  {
    path: '/hosts',
    title: WORDS.hosts.title,
    component: { load: async () => (await import('./hosts/hosts-screen.tsx')).HostsScreen },
  },
  {
    path: '/people',
    title: WORDS.people.title,
    isFor: 'admins',
    component: { load: async () => (await import('./people/people-screen.tsx')).PeopleScreen },
  },
  {
    path: '/account',
    title: WORDS.account.title,
    isFor: 'people',
    component: { load: async () => (await import('./people/account-screen.tsx')).AccountScreen },
  },
  {
    path: '/help',
    title: WORDS.help.title,
    component: { load: async () => (await import('./help-screen.tsx')).HelpScreen },
  },
];

/** The screen of an address, and the ids in it. */
export function screenOf(path: string): { screen: Screen; ids: string[] } | undefined {
  for (const screen of SCREENS) {
    const pattern = screen.path.replaceAll('{id}', '([0-9a-f-]{36})');
    const found = new RegExp(`^${pattern}$`).exec(path);
    if (found) return { screen, ids: found.slice(1) };
  }
  return undefined;
}
