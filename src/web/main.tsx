// Entry of the page: which of its screens an address shows.
import { signal } from '@preact/signals';
import { render } from 'preact';
import { LabScreen } from './lab-screen.tsx';
import { LabsScreen } from './labs-screen.tsx';

const address = signal(location.pathname);

/** Shows another screen without loading the page again. */
export function go(path: string): void {
  history.pushState(null, '', path);
  address.value = path;
}

addEventListener('popstate', () => {
  address.value = location.pathname;
});

function Page() {
  const id = /^\/labs\/([0-9a-f-]{36})$/.exec(address.value)?.[1];
  return id === undefined ? <LabsScreen go={go} /> : <LabScreen key={id} id={id} go={go} />;
}

render(<Page />, document.getElementById('app')!);
