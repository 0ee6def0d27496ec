// The supervisor's description of itself and its programs, validated by the daemon: the process may be of another
// release.
import * as v from 'valibot';

export const ProgramExit = v.object({
  /** Exit code; 0 if it was ended by a signal. */
  code: v.number(),
  /** Name of the signal. */
  signal: v.exactOptional(v.string()),
});
export type ProgramExit = v.InferOutput<typeof ProgramExit>;

/** A terminal in the supervisor's answer to a new daemon. */
const ProgramState = v.object({
  id: v.number(),
  pid: v.number(),
  record: v.unknown(),
  /** Set if the program has ended and no daemon was notified. */
  exit: v.exactOptional(ProgramExit),
});
export type ProgramState = v.InferOutput<typeof ProgramState>;

export const Welcome = v.object({
  protocol: v.number(),
  /** Of the supervisor. */
  pid: v.number(),
  terminals: v.array(ProgramState),
  /** It creates TAPs for programs; one of an older release does not. */
  makesTaps: v.exactOptional(v.literal(true)),
});
export type Welcome = v.InferOutput<typeof Welcome>;
