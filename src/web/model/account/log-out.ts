// Logs out in all tabs. The browser forgets its password when the server rejects it once, at an address used for nothing else.
import { randomId } from '../browser/uuid.ts';

const tabs = new BroadcastChannel('labwire log out');

/** Logs out when another tab does. */
export function followLogOut(): void {
  tabs.onmessage = leave;
}

export function logOut(): void {
  tabs.postMessage('');
  leave();
}

function leave(): void {
  location.assign(`/logout?${randomId()}`);
}
