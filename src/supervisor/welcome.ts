// What a supervisor says of itself and its programs, checked by the daemon: the process may be of another release.
import * as v from 'valibot';

export const ProgramExit = v.object({
  /** Exit code; 0 when a signal ended the program. */
  code: v.number(),
  /** Name of the signal. */
  signal: v.exactOptional(v.string()),
});
export type ProgramExit = v.InferOutput<typeof ProgramExit>;

/** A terminal as the supervisor tells a daemon that has just come. */
const ProgramState = v.object({
  id: v.number(),
  pid: v.number(),
  record: v.unknown(),
  /** When the program has ended and no daemon has heard of it. */
  exit: v.exactOptional(ProgramExit),
});
export type ProgramState = v.InferOutput<typeof ProgramState>;

export const Welcome = v.object({
  protocol: v.number(),
  /** Of the supervisor. */
  pid: v.number(),
  terminals: v.array(ProgramState),
  /** It makes TAPs for programs; one of an older release does not. */
  makesTaps: v.exactOptional(v.literal(true)),
});
export type Welcome = v.InferOutput<typeof Welcome>;
