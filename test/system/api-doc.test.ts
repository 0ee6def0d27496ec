// docs/api.md says the truth of the executable: its lines work, its codes are those of the OpenAPI document, its proofs exist.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { Validator } from '@seriousme/openapi-schema-validator';
import { findProgram } from '../../src/host/processes/program-path.ts';
import { Daemon, startDaemon } from './daemon.ts';
import { FROM_SOURCE } from './executable.ts';

const project = join(import.meta.dirname, '../..');
const text = readFileSync(join(project, 'docs/api.md'), 'utf8');

interface Row {
  method: string;
  pattern: string;
  what: string;
  /** The code of success first. */
  codes: number[];
  line: string;
  /** What the line gets. */
  expected: number;
  proof: string;
}

const CELLS = /^\| `(GET|POST|PUT|DELETE) (\S+)` \| (.+?) \| (.+?) \| `(.+?)`(?: \((\d+)\))? \| (.+?) \|$/;

const HEADER = '| Route | What it does | Codes | Try it | Proof |\n|---|---|---|---|---|\n';

const rows: Row[] = text
  .split('\n\n')
  .filter((paragraph) => paragraph.startsWith(HEADER))
  .flatMap((table) => table.slice(HEADER.length).trim().split('\n'))
  .map((line) => {
    const cells = CELLS.exec(line);
    assert.ok(cells, `not understood: ${line}`);
    const [, method, pattern, what, said, tried, gets, proof] = cells as unknown as string[];
    const codes = [...said!.matchAll(/\b\d{3}\b/g)].map(Number);
    const expected = Number(gets ?? codes[0]);
    return { method: method!, pattern: pattern!, what: what!, codes, line: tried!, expected, proof: proof! };
  });

const [preamble = '', goodbye] = [...text.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block!);

test('every route of the specification has a row', () => {
  assert.equal(rows.length, 48);
  assert.equal(new Set(rows.map(({ method, pattern }) => `${method} ${pattern}`)).size, 48);
});

test('every line works when it is pasted, and gets the code that stands there', { timeout: 120_000 }, async (t) => {
  for (const program of ['bash', 'curl', 'vpcs']) {
    if ((await findProgram(program)) === undefined) return t.skip(`${program} is not installed`);
  }
  await using daemon = new Daemon();
  await daemon.start();
  assert.ok(preamble.includes('http://127.0.0.1:3080'));
  const script = [
    preamble.replace('http://127.0.0.1:3080', daemon.url),
    `curl() { command curl -s -o /dev/null -w '%{http_code}\\n' "$@"; }`,
    ...rows.map(({ line }) => line),
    goodbye,
  ].join('\n');
  const { stdout, stderr } = await promisify(execFile)('bash', ['-c', script]);
  assert.equal(stderr, '');
  const codes = stdout.trim().split('\n').map(Number);
  const tried = rows.map(
    ({ line, expected }, index) => `${line} -> ${codes[index] === expected ? expected : codes[index]}`,
  );
  assert.deepEqual(
    tried,
    rows.map(({ line, expected }) => `${line} -> ${expected}`),
  );
  assert.deepEqual(codes.slice(rows.length), [204, 204, 204], 'tidying up');
  const { paths } = (await (await fetch(`${daemon.url}/v2/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { summary: string; responses: object }>>;
  };
  for (const { method, pattern, what, codes: said } of rows) {
    const operation = paths[pattern.replaceAll(/\{(\w+):[^{}]+\}/g, '{$1}')]?.[method.toLowerCase()];
    assert.ok(operation, `${method} ${pattern} is not in the OpenAPI document`);
    assert.ok(what.startsWith(`${operation.summary}.`), `${method} ${pattern}: ${what}: ${operation.summary}`);
    const documented = Object.keys(operation.responses).map(Number);
    assert.deepEqual(
      said.filter((code) => !documented.includes(code)),
      [],
      `${method} ${pattern}: codes that the OpenAPI document lacks`,
    );
  }
});

test('the OpenAPI document of the executable is valid, and is that of the sources', { timeout: 120_000 }, async (t) => {
  const documents = await Promise.all(
    [{}, { program: FROM_SOURCE }].map(async (options) => {
      const daemon = await startDaemon(t, options);
      return (await daemon.ask('GET', '/v2/openapi.json')).text;
    }),
  );
  const [packed, source] = documents.map((document) => JSON.parse(document));
  const { valid, errors } = await new Validator().validate(structuredClone(packed));
  assert.equal(valid, true, JSON.stringify(errors, null, 1));
  assert.deepEqual(packed, source);
  const named = Object.entries(packed.paths as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const missing = rows
    .map(({ method, pattern }) => `${method} ${pattern.replaceAll(/\{(\w+):[^{}]+\}/g, '{$1}')}`)
    .filter((name) => !named.includes(name));
  assert.deepEqual(missing, []);
});

test('every proof exists', () => {
  for (const { method, pattern, proof } of rows) {
    const names = [...proof.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
    assert.ok(names.length > 0, `${method} ${pattern} has no proof`);
    for (const name of names) {
      const file = name.startsWith('test/') ? name : `test/conformance/scenarios/${name}.json`;
      assert.ok(existsSync(join(project, file)), `${method} ${pattern}: there is no ${file}`);
    }
  }
});
