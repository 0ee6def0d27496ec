// Data that the supervisor keeps for a container's node: its X server. The Engine keeps the container itself.
import * as v from 'valibot';

export const KEPT = { version: 1, schema: v.null() } as const;
