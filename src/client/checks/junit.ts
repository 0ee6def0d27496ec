// Check results as JUnit XML for CI systems.
import type { CheckResult } from './run.ts';

const NAMES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
};

/** For an attribute or text; characters not allowed in XML become question marks. */
function escaped(text: string): string {
  return text
    .replaceAll(/[^\t\n\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '?')
    .replaceAll(/[&<>"\n]/g, (character) => NAMES[character]!);
}

const inSeconds = (seconds: number): string => seconds.toFixed(3);

export interface Suite {
  lab: string;
  file: string;
  begun: Date;
  seconds: number;
}

/** One suite, named after the lab, with a case for each check. */
export function junitReport({ lab, file, begun, seconds }: Suite, results: readonly CheckResult[]): string {
  const failures = results.filter(({ passed }) => !passed).length;
  const counts = `tests="${results.length}" failures="${failures}" errors="0" skipped="0" time="${inSeconds(seconds)}"`;
  const cases = results.map((result) => {
    const { name, kind, line, passed, seen, seconds: own } = result;
    const head = `    <testcase name="${escaped(name)}" classname="${escaped(lab)}.${kind}" file="${escaped(file)}" line="${line}" time="${inSeconds(own)}"`;
    if (passed) return `${head}>\n      <system-out>${escaped(seen)}</system-out>\n    </testcase>`;
    return `${head}>\n      <failure message="${escaped(seen)}" type="${kind}"/>\n    </testcase>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="labwired test" ${counts}>
  <testsuite name="${escaped(lab)}" timestamp="${begun.toISOString().slice(0, 19)}" ${counts}>
${cases.join('\n')}
  </testsuite>
</testsuites>
`;
}
