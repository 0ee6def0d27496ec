// `labwired appliance`: devices of the catalogue, and what is missing for them on this server.
import type { Match } from '../../api/routes/appliances.ts';
import { type Noun, verb } from '../frame/command.ts';
import type { Session } from '../frame/session.ts';
import { findNamed } from '../server/find.ts';

/** Versions of all appliances, or of those of which the host has some image. */
function matchesOn(session: Session, compute: string, isAll: boolean): Promise<Match[]> {
  const query = new URLSearchParams({ compute_id: compute, ...(isAll && { all: 'yes' }) });
  return session.api.get(`/v2/appliances/matches?${query}`);
}

/** The appliance of this name or id, in any version. @throws Failure */
export async function applianceNamed(session: Session, compute: string, wanted: string): Promise<Match> {
  const all = new Map((await matchesOn(session, compute, true)).map((one) => [one.appliance_id, one]));
  return findNamed('appliance', [...all.values()], (one) => ({ id: one.appliance_id, name: one.name }), wanted);
}

/** The missing parts, for a table cell. */
function lacking({ complete, version, images }: Match): string {
  if (complete) return 'all there';
  if (version === null) return 'pulled when it is needed';
  return images
    .filter(({ path }) => path === null)
    .map(({ filename }) => filename)
    .join(', ');
}

export const appliance: Noun = {
  name: 'appliance',
  summary: 'devices of the catalogue, for template create',
  verbs: [
    verb({
      name: 'list',
      words: ['[WORD]'],
      summary: 'lists versions with some image on the host, or with this word, and missing images',
      flags: {
        all: { summary: 'also versions without any image on the host' },
        compute: { value: 'ID', summary: 'the host (local)' },
      },
      run: async (session, [word], { all, compute = 'local' }) => {
        const isWanted = ({ name }: Match) => name.toLowerCase().includes((word ?? '').toLowerCase());
        const matches = await matchesOn(session, compute, all === true || word !== undefined);
        session.show(matches.filter(isWanted), ({ appliance_id }) => appliance_id, [
          { heading: 'APPLIANCE', cell: ({ name }) => name },
          { heading: 'VERSION', cell: ({ version }) => version ?? '' },
          { heading: 'TYPE', cell: ({ emulator }) => emulator },
          { heading: 'MISSING IMAGES', cell: lacking },
        ]);
      },
    }),
  ],
};
