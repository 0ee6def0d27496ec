// `labwired audit`: the last lines of the audit trail.
import type { Config } from '../config/schema.ts';
import { harmless, jsonText } from '../host/terminal/terminal-text.ts';
import { AuditFile, type AuditLine } from '../store/audit.ts';
import { becomeOwner } from './state-owner.ts';

const LINES = 10_000;

/** Returns the output: a line per change, or with `json` the stored lines. */
export async function auditCommand({ state }: Config, json: boolean): Promise<string> {
  await becomeOwner(state);
  const lines = await new AuditFile(state).last(LINES);
  return lines.map((line) => `${json ? jsonText(line) : inWords(line)}\n`).join('');
}

function inWords({
  time,
  account,
  token,
  address,
  action,
  objects,
  status,
  lost,
  refused,
}: AuditLine & { lost?: number }): string {
  if (lost !== undefined) return `${time} ${lost} lines were lost: the disk did not take them`;
  const who = token === undefined ? account : `${account} (token ${token})`;
  const named = Object.entries(objects).map(([name, text]) => `${name}=${jsonText(text)}`);
  const times = refused === undefined ? [] : [`(the last of ${refused} refused requests)`];
  return [time, who, address, action, ...(status === 0 ? [] : [status]), ...named, ...times]
    .map((part) => harmless(String(part)))
    .join(' ');
}
