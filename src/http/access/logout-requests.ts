// Logout for HTTP Basic: browsers forget a password when it is refused once. The page opens this address with a random word; the first
// request with it is refused, and after a new login it redirects to the labs.
import { dropOldest } from '../../host/values/drop-oldest.ts';

/** The path. */
export const LOGOUT = '/logout';
/** Maximum remembered words. */
const MOST = 1_024;
const LONGEST = 64;

export class LogoutRequests {
  readonly #heard = new Set<string>();

  /**
   * Whether this request is a logout: the first with its word, and not from another site.
   * @param site the header `Sec-Fetch-Site`
   */
  isFirst(target: string, site: string | undefined): boolean {
    const [path, word = ''] = target.split('?', 2) as [string, string?];
    if (path !== LOGOUT || word === '' || word.length > LONGEST || this.#heard.has(word)) return false;
    if (site === 'cross-site' || site === 'same-site') return false;
    this.#heard.add(word);
    dropOldest(this.#heard, MOST);
    return true;
  }
}
