// The releases that the two versions of the API have in answers. Clients accept only their own release.

/** The release of answers in one version of the API. */
export interface Release {
  number: string;
  /** Whether every client gets this number. */
  pinned: boolean;
}

export interface Releases {
  v2: Release;
  v3: Release;
}

const RELEASE = /^\d+\.\d+\.\d+(?:[-+.][\w.+-]+)?$/;

/** The release that a client names: its desktop program sends its own in each request. */
const CLIENT = /GNS3 QT Client v(\d{1,3}\.\d{1,4}\.\d{1,4}[\w.+-]{0,20})/;

const FAMILIES = { v2: /^2\.2\./, v3: /^3\./ } as const;

/**
 * Reads a setting: none, one or both of a release of 2.2 and one of 3.x, with a comma between.
 * @returns undefined if it is something else
 */
export function releasesOf(text: string): Releases | undefined {
  const releases: Releases = {
    v2: { number: '2.2.57', pinned: false },
    v3: { number: '3.0.6', pinned: false },
  };
  for (const number of text.split(',').map((part) => part.trim())) {
    if (number === '') continue;
    const family = (['v2', 'v3'] as const).find((one) => FAMILIES[one].test(number));
    if (family === undefined || !RELEASE.test(number) || releases[family].pinned) return undefined;
    releases[family] = { number, pinned: true };
  }
  return releases;
}

/** The number for the client with these headers. */
export function releaseFor(releases: Releases, family: keyof Releases, headers: Headers): string {
  const { number, pinned } = releases[family];
  const [, own] = CLIENT.exec(headers.get('user-agent') ?? '') ?? [];
  return !pinned && own !== undefined && FAMILIES[family].test(own) ? own : number;
}

/** Whether a client of release 2.2 that states this number in a body gets it, too. */
export function accepts({ v2 }: Releases, stated: string): boolean {
  return stated === v2.number || (!v2.pinned && /^2\.2\.\d{1,4}$/.test(stated));
}
