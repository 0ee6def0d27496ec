// The findings as text for users and as JSON for scripts.
import { styleText } from 'node:util';
import type { State } from '../host/values/check-result.ts';
import type { Finding } from './check.ts';

const COLOURS = { ok: 'green', warning: 'yellow', missing: 'red' } as const;

/** The worst of the states. */
export function worst(findings: readonly Finding[]): State {
  return (['missing', 'warning'] as const).find((state) => findings.some((one) => one.state === state)) ?? 'ok';
}

/** Aligned lines with state, subject and detail, and the fix below; coloured only on a terminal. */
export function textReport(version: string, findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ subject }) => subject.length));
  const below = `${' '.repeat(9 + width)}  `;
  const lines = findings.flatMap(({ subject, state, detail, fix, see }) => {
    const line = `${styleText(COLOURS[state], state.padEnd(7))}  ${subject.padEnd(width)}  ${detail}`;
    return fix === undefined ? [line] : [line, `${below}-> ${fix}`, `${below}   labwired help ${see}`];
  });
  const sum = Object.keys(COLOURS).map((state) => `${findings.filter((one) => one.state === state).length} ${state}`);
  return `labwired ${version}\n\n${lines.join('\n')}\n\n${sum.join(', ')}\n`;
}

/** In one line of a comment: a newline in the name of a file must not begin a command. */
const commented = (text: string): string => `# ${text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')}`;

/** A shell script: fixes as commands, reasons and references as comments. None of it has been run. */
export function fixReport(version: string, findings: readonly Finding[]): string {
  const open = findings.filter(({ state }) => state !== 'ok');
  const parts = open.map(({ subject, state, detail, see, fix = '', commands = [] }) => {
    const isSaid = fix === commands.join('; ');
    const words = isSaid ? [] : [commented(commands.length > 0 ? `to do: ${fix}` : `to do by hand: ${fix}`)];
    return [commented(`${state}: ${subject}: ${detail}`), commented(`labwired help ${see}`), ...words, ...commands];
  });
  const said = open.length === 0 ? 'nothing to be done' : 'nothing was run; what is below is for root, after reading';
  return `${[[commented(`labwired ${version} doctor: ${said}`)], ...parts].map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

export function jsonReport(version: string, findings: readonly Finding[]): string {
  return `${JSON.stringify({ version, state: worst(findings), findings }, undefined, 2)}\n`;
}
