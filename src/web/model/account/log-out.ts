// Logging out, in all tabs of the browser. It forgets the password when the server refuses it once, at an address that is for nothing else.
import { randomId } from '../browser/uuid.ts';

const tabs = new BroadcastChannel('labwire log out');

/** Another tab has logged out: this one does so, too. */
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
