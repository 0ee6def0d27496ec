// `labwired compute`: the hosts on which nodes run.
import { type Noun, verb } from './command.ts';
import type { ComputeObject } from './objects.ts';

const idOf = ({ compute_id }: ComputeObject): string => compute_id;
const percent = (value: number | null): string => (value === null ? '' : `${Math.round(value)} %`);

export const compute: Noun = {
  name: 'compute',
  summary: 'the hosts on which nodes run',
  verbs: [
    verb({
      name: 'list',
      words: [],
      summary: 'all hosts, and how busy they are',
      flags: {},
      run: async (session) =>
        session.show(await session.api.get<ComputeObject[]>('/v2/computes'), idOf, [
          { heading: 'COMPUTE', cell: ({ name }) => name },
          { heading: 'ADDRESS', cell: ({ host, port }) => `${host}:${port}` },
          { heading: 'STATUS', cell: ({ connected }) => (connected ? 'connected' : 'not connected') },
          { heading: 'CPU', cell: (one) => percent(one.cpu_usage_percent) },
          { heading: 'MEMORY', cell: (one) => percent(one.memory_usage_percent) },
          { heading: 'ID', cell: idOf },
        ]),
    }),
  ],
};
