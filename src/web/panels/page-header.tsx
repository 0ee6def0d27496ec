// The header of every screen: title, connection, navigation, and the command field.
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { Brand, Icon } from '../icons.tsx';
import { account, readAccount } from '../model/account/account.ts';
import { logOut } from '../model/account/log-out.ts';
import { setTo } from '../model/browser/signal-handlers.ts';
import type { Events } from '../model/server/events.ts';
import { bar } from '../shell/bar.ts';
import { isCommandShown, isKeysShown } from '../shell/shown-lab.ts';
import { pageEvents } from '../tasks/page-tasks.ts';
import { TasksButton } from '../tasks/tasks-button.tsx';
import { WORDS } from '../words.ts';
import { Button } from './button.tsx';
import { Link } from './link.tsx';
import { Live } from './live.tsx';

interface PageHeaderProps {
  /** The title, after the link back to the labs. */
  title?: string | undefined;
  /** The notifications that keep the screen up to date; those of the whole page unless given. */
  events?: Events;
  children?: ComponentChildren;
}

export function PageHeader({ title, events, children }: PageHeaderProps) {
  useEffect(() => void readAccount(), []);
  useEffect(() => {
    document.title = title ? `${title} - Labwire` : 'Labwire';
  }, [title]);
  const who = account.value;
  // A screen without a title is still loading.
  const shown = events ?? (title === undefined ? undefined : pageEvents);
  return (
    <header>
      <h1>
        <Brand />
        {title === undefined ? 'Labwire' : <Link to="/">{WORDS.labs.title}</Link>} {title && <span>{title}</span>}
      </h1>
      {shown && <Live events={shown} />}
      <nav class="screens" aria-label={WORDS.page.screens}>
        <ul>
          {bar.value
            .filter(({ path }) => title === undefined || path !== '/')
            .map(({ path, title: name }) => (
              <li key={path} class={path === '/account' ? 'only-narrow' : undefined}>
                <Link to={path}>{name}</Link>
              </li>
            ))}
        </ul>
      </nav>
      <span class="commands">
        <button type="button" class="command-button" onClick={setTo(isCommandShown, true)}>
          <Icon of="page.command" />
          <span class="label">{WORDS.command.button}</span> <kbd>Ctrl+K</kbd>
        </button>
        <Button
          class="keys-button"
          aria-label={WORDS.keys.title}
          title={WORDS.keys.title}
          onClick={setTo(isKeysShown, true)}
          text="?"
        />
      </span>
      {who?.login && (
        <span class="account">
          <Link to="/account" title={WORDS.sharing.roles[who.role]}>
            {who.name} ({WORDS.account.roles[who.role]})
          </Link>
          <Button onClick={logOut} text={WORDS.account.logOut} />
        </span>
      )}
      <TasksButton />
      {children}
    </header>
  );
}
