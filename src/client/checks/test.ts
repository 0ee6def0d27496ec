// `labwired test`: the checks of a lab's file, as an acceptance test.
import { Readable } from 'node:stream';
import { WrongUsage } from '../../commands/wrong-usage.ts';
import { conflict } from '../../failures.ts';
import { LAB_FLAG, type Noun, OUTSIDE, verb } from '../frame/command.ts';
import type { Session } from '../frame/session.ts';
import type { OutsideFlag } from '../labfile/read.ts';
import { counted } from '../terminal/counted.ts';
import { save } from '../terminal/files.ts';
import type { CheckResult } from './run.ts';

function tell(session: Session, { name, passed, seen, seconds }: CheckResult): void {
  if (session.json || session.quiet) return;
  session.tell(`${passed ? 'passed' : 'FAILED'}  ${name}: ${seen} (${seconds.toFixed(1)} s)`, name);
}

async function run(
  session: Session,
  word: string | undefined,
  { junit, keep, ...flags }: OutsideFlag & { junit?: string; lab?: string; keep?: true },
): Promise<void> {
  const [{ askedChecks, keepChecks }, { runChecks }, { Scene }, { junitReport }] = await Promise.all([
    import('./requested-checks.ts'),
    import('./run.ts'),
    import('./scene.ts'),
    import('./junit.ts'),
  ]);
  const asked = await askedChecks(session, word, flags);
  const { lab, checks, file, started } = asked;
  if (checks.length === 0) throw new WrongUsage(`${file} has no checks: write them below checks.`);
  if (lab.status !== 'opened') throw conflict(`Lab "${lab.name}" is closed: labwired lab start ${started}`);
  if (keep) await keepChecks(session, asked);
  const begun = new Date();
  const results = await runChecks(new Scene(session, lab), checks, (result) => tell(session, result));
  const seconds = (Date.now() - begun.getTime()) / 1000;
  const failed = results.filter(({ passed }) => !passed).length;
  if (junit !== undefined) {
    const suite = { lab: lab.name, file, begun, seconds };
    await save(session, Readable.from([junitReport(suite, results)]), junit);
  }
  if (session.json) {
    session.printJson({ lab: lab.name, file, passed: failed === 0, seconds, checks: results });
  }
  const count = counted(results.length, 'check');
  if (failed > 0) throw conflict(`${failed} of ${count} failed, after ${seconds.toFixed(1)} s.`);
  if (!session.json && !session.quiet) session.print(`${count} passed, after ${seconds.toFixed(1)} s.`);
}

export const test: Noun = {
  name: 'test',
  summary: 'checks of a lab, as an acceptance test',
  verbs: [
    verb({
      name: '',
      words: ['[FILE|LAB]'],
      summary: 'runs the checks of a lab file (lab.yaml), of a file of checks, or those stored in a lab',
      flags: {
        junit: { value: 'FILE', summary: 'write the results as JUnit XML, for CI systems' },
        lab: {
          ...LAB_FLAG.lab,
          summary: 'the lab, if not that of the file: a copy, or one without a file',
        },
        ...OUTSIDE,
        keep: { summary: 'store these checks in the lab, for labwired test LAB' },
      },
      run: (session, [word], flags) => run(session, word, flags),
    }),
  ],
};
