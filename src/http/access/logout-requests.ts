// Logging out of HTTP Basic: a browser forgets a password when it is refused once. The page goes to this address with a word that it has
// just made up; the first time that is refused, and when somebody has logged in again it leads to the labs.

/** The address. */
export const LOGOUT = '/logout';
/** Words that are remembered. */
const MOST = 1_024;
const LONGEST = 64;

export class Farewells {
  readonly #heard = new Set<string>();

  /**
   * Whether somebody logs out by this request: it is the first with its word, and no other site has led there.
   * @param site the header `Sec-Fetch-Site`
   */
  isFirst(target: string, site: string | undefined): boolean {
    const [path, word = ''] = target.split('?', 2) as [string, string?];
    if (path !== LOGOUT || word === '' || word.length > LONGEST || this.#heard.has(word)) return false;
    if (site === 'cross-site' || site === 'same-site') return false;
    this.#heard.add(word);
    const [oldest] = this.#heard;
    if (this.#heard.size > MOST) this.#heard.delete(oldest!);
    return true;
  }
}
