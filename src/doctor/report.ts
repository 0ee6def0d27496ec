// The findings as text for people and as JSON for scripts.
import { styleText } from 'node:util';
import type { State } from '../host/verdict.ts';
import type { Finding } from './check.ts';

const COLOURS = { ok: 'green', warning: 'yellow', missing: 'red' } as const;

/** The worst of the states. */
export function worst(findings: readonly Finding[]): State {
  return (['missing', 'warning'] as const).find((state) => findings.some((one) => one.state === state)) ?? 'ok';
}

/** Aligned lines: state, subject, detail, and below what to do; colours only where standard output is a terminal. */
export function textReport(version: string, findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ subject }) => subject.length));
  const lines = findings.flatMap(({ subject, state, detail, fix }) => {
    const line = `${styleText(COLOURS[state], state.padEnd(7))}  ${subject.padEnd(width)}  ${detail}`;
    return fix === undefined ? [line] : [line, `${' '.repeat(9 + width)}  -> ${fix}`];
  });
  const sum = Object.keys(COLOURS).map((state) => `${findings.filter((one) => one.state === state).length} ${state}`);
  return `labwired ${version}\n\n${lines.join('\n')}\n\n${sum.join(', ')}\n`;
}

export function jsonReport(version: string, findings: readonly Finding[]): string {
  return `${JSON.stringify({ version, state: worst(findings), findings }, undefined, 2)}\n`;
}
