// A reporter of node --test that writes down, one JSON object a line, what the runner has to know of each test file.
import { inspect } from 'node:util';

/** What the reporter tells. `file` is the absolute path of the test file. */
export type Told =
  | { what: 'begin' | 'alive'; file: string }
  | { what: 'end'; file: string; passed: boolean; milliseconds: number }
  | { what: 'passed'; file: string; title: string }
  | { what: 'skipped'; file: string; title: string; reason: string }
  | { what: 'failed'; file: string; title: string; error: string };

interface Details {
  type?: string;
  passed?: boolean;
  duration_ms?: number;
  error?: Error & { failureType?: string };
}

/** The members of an event of node --test that matter here; `entryFile` is missing where the event is about a file as a whole. */
interface EventData {
  file?: string;
  entryFile?: string;
  name: string;
  testId: number;
  parentId: number;
  skip?: string | boolean;
  todo?: string | boolean;
  details?: Details;
  message?: string;
}

const STDERR_CHARACTERS = 4000;
const NO_COLOURS = { colors: false, depth: 6 };

/** The titles of running tests, to tell a test by those around it. */
class Titles {
  readonly #known = new Map<string, string>();

  add(file: string, { testId, parentId, name }: EventData): void {
    const around = this.#known.get(`${file} ${parentId}`);
    this.#known.set(`${file} ${testId}`, around === undefined ? name : `${around} > ${name}`);
  }

  of(file: string, { testId, name }: EventData): string {
    return this.#known.get(`${file} ${testId}`) ?? name;
  }
}

function reasonOf({ skip, todo }: EventData): string | undefined {
  const reason = skip ?? (todo === undefined || todo === false ? undefined : `todo: ${todo}`);
  return reason === undefined || reason === false ? undefined : reason === true ? '' : reason;
}

/** A test around others fails with them, and is not told beside them. */
const isOfSubtests = ({ error }: Details): boolean => error?.failureType === 'subtestsFailed';

function textOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return typeof cause === 'string' ? cause : inspect(cause, NO_COLOURS);
}

export default async function* report(
  events: AsyncIterable<{ type: string; data: EventData }>,
): AsyncGenerator<string> {
  const titles = new Titles();
  const complaints = new Map<string, string>();
  for await (const { type, data } of events) {
    const file = data?.entryFile ?? data?.file;
    if (file === undefined) continue;
    if (type === 'test:stderr') {
      complaints.set(file, `${complaints.get(file) ?? ''}${data.message}`.slice(-STDERR_CHARACTERS));
    }
    if (type === 'test:start') titles.add(file, data);
    for (const told of toldOf(type, file, data, titles, complaints)) yield `${JSON.stringify(told)}\n`;
  }
}

function* toldOf(
  type: string,
  file: string,
  data: EventData,
  titles: Titles,
  complaints: ReadonlyMap<string, string>,
): Generator<Told> {
  const ofFile = data.entryFile === undefined;
  const details = data.details ?? {};
  if (type === 'test:dequeue') yield { what: ofFile ? 'begin' : 'alive', file };
  else if (type === 'test:complete' && ofFile) {
    yield { what: 'end', file, passed: details.passed === true, milliseconds: details.duration_ms ?? 0 };
  } else if (type === 'test:complete' || type === 'test:stderr' || type === 'test:stdout')
    yield { what: 'alive', file };
  else if (type === 'test:fail' && !isOfSubtests(details)) {
    const error = ofFile ? `${textOf(details.error)}\n${complaints.get(file) ?? ''}` : textOf(details.error);
    yield { what: 'failed', file, title: titles.of(file, data), error: error.trim() };
  } else if (type === 'test:pass' && details.type !== 'suite') {
    const reason = reasonOf(data);
    const title = titles.of(file, data);
    yield reason === undefined ? { what: 'passed', file, title } : { what: 'skipped', file, title, reason };
  }
}
