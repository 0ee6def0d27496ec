// What the supervisor keeps for a container's node: X servers. The container itself is the Engine's.
import * as v from 'valibot';

export const KEPT = { version: 1, schema: v.null() } as const;
