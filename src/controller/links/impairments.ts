// Impairments of a link by direction: an optional extension of the release's API. `forward` is from the first of the
// link's `nodes` to the second, `backward` the other way.
import * as v from 'valibot';
import { PRESETS, type Preset } from '../../api/impairment-presets.ts';
import { changed, type DirectionChange, DirectionImpairments } from '../../api/impairments.ts';
import type { LinkImpairmentsBody } from '../../api/routes/links.ts';
import { invalid } from '../../failures.ts';
import { describeIssue } from '../../store/issues.ts';

/** As stored and shown. */
const Stored = v.strictObject({ forward: DirectionImpairments, backward: DirectionImpairments });
export type LinkImpairments = v.InferOutput<typeof Stored>;

export const NO_IMPAIRMENTS: LinkImpairments = { forward: {}, backward: {} };

export function impairs({ forward, backward }: LinkImpairments): boolean {
  return Object.keys(forward).length > 0 || Object.keys(backward).length > 0;
}

/** The changes of each direction in a body, its preset first. */
export function changesOf(body: LinkImpairmentsBody): { forward: DirectionChange; backward: DirectionChange } {
  const { preset: name, subscriber = 0, both = {}, forward = {}, backward = {} } = body;
  const preset: Partial<Preset> = PRESETS.find((each) => each.name === name) ?? {};
  const [there, back] = subscriber === 0 ? [preset.up, preset.down] : [preset.down, preset.up];
  return { forward: { ...there, ...both, ...forward }, backward: { ...back, ...both, ...backward } };
}

/** The link's impairments: numbers, not names, so that later changes of presets do not affect it. */
export function linkImpairments(body: LinkImpairmentsBody | null): LinkImpairments {
  const { forward, backward } = changesOf(body ?? {});
  return { forward: changed({}, forward), backward: changed({}, backward) };
}

/**
 * The member of `link_style` for impairments in a topology file: the format allows unknown members only in a link's
 * style, which releases 2.2 read and write unchanged.
 */
const CARRIER = 'labwire_impairments';

type Style = Record<string, unknown>;

/** The style as stored in a file. */
export function styleWith(style: Style, impairments: LinkImpairments): Style {
  return impairs(impairments) ? { ...style, [CARRIER]: impairments } : style;
}

/** The style as clients see it. */
export function plainStyle({ [CARRIER]: _impairments, ...style }: Style): Style {
  return style;
}

/** The style in a request. @throws Failure `invalid` for impairments in it, which only files have there */
export function requestedStyle(style: Style): Style {
  if (CARRIER in style) throw invalid(`link_style.${CARRIER}: only files have it; use the member impairments.`);
  return style;
}

/** The impairments in a file's style; invalid ones are left out, with a `reason`. */
export function carriedImpairments(style: Style): { impairments: LinkImpairments; reason?: string } {
  const carried = style[CARRIER];
  if (carried === undefined) return { impairments: NO_IMPAIRMENTS };
  const result = v.safeParse(Stored, carried, { abortPipeEarly: true });
  if (result.success) return { impairments: result.output };
  return { impairments: NO_IMPAIRMENTS, reason: describeIssue(result.issues[0], CARRIER) };
}
