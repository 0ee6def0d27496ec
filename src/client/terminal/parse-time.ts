// Parses times on the command line as docker and journalctl do: a duration ago, or a local time.
import { WrongUsage } from '../../commands/wrong-usage.ts';

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** @throws WrongUsage */
export function momentOf(flag: string, given: string, now = new Date()): Date {
  const moment = ago(given, now) ?? today(given, now) ?? written(given);
  if (moment) return moment;
  throw new WrongUsage(
    `${flag} "${given}": write how long ago, such as 90s, 10m, 2h or 1d, or when: 09:12, 2026-11-23, "2026-11-23 09:12".`,
  );
}

/** `10m` or `1h30m`. */
function ago(given: string, now: Date): Date | undefined {
  if (!/^(\d{1,9}[smhd])+$/.test(given)) return undefined;
  const seconds = [...given.matchAll(/(\d+)([smhd])/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * UNITS[unit!]!,
    0,
  );
  return new Date(now.getTime() - seconds * 1000);
}

/** `09:12` or `09:12:44`. */
function today(given: string, now: Date): Date | undefined {
  const [, hours, minutes, seconds = '0'] = /^(\d\d):(\d\d)(?::(\d\d))?$/.exec(given) ?? [];
  if (hours === undefined || Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) return undefined;
  const moment = new Date(now);
  moment.setHours(Number(hours), Number(minutes), Number(seconds), 0);
  return moment;
}

/** `2026-11-23`, `2026-11-23 09:12`, or as the server writes it; without a zone by the clock of this machine. */
function written(given: string): Date | undefined {
  const form = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:\d\d)?)?$/.exec(given);
  if (!form) return undefined;
  const [, day, time = '00:00', zone = ''] = form;
  const moment = new Date(`${day}T${time}${zone}`);
  return Number.isNaN(moment.getTime()) ? undefined : moment;
}
