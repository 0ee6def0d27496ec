// The executable as a service of a real systemd, which boots in namespaces of its own: started, killed, stopped dead, reloaded, ended.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Booted, skip } from './booted.ts';

test('systemd starts the service, restarts it when it dies or hangs, reloads and stops it; its nodes run on', {
  skip,
}, async (t) => {
  const booted = await Booted.boot(t);
  if (typeof booted === 'string') return t.skip(`systemd cannot be booted here: ${booted}`);
  const started = await booted.active();
  assert.equal(started['StatusText'], 'Listening on http://127.0.0.1:3080');
  assert.equal((await booted.ask('GET', '/v2/version')).version, '2.2.57');
  // It has no capability and gains none. But those that files of programs ask for are not taken out of reach: the kernel would not
  // start such programs.
  const rights = await booted.run(
    'grep',
    '-E',
    '^(CapPrm|CapEff|CapBnd|NoNewPrivs):',
    `/proc/${started['MainPID']}/status`,
  );
  const [none, bound] = ['0'.repeat(16), ((1 << 12) | (1 << 13)).toString(16).padStart(16, '0')];
  assert.equal(rights, `CapPrm:\t${none}\nCapEff:\t${none}\nCapBnd:\t${bound}\nNoNewPrivs:\t1\n`);
  const { stillRuns } = await booted.lab();

  await booted.run('kill', '-KILL', started['MainPID']!);
  const afterDeath = await booted.active(started['MainPID']);
  assert.equal(afterDeath['NRestarts'], '1');
  await stillRuns();

  await booted.run('kill', '-STOP', afterDeath['MainPID']!);
  const afterHang = await booted.active(afterDeath['MainPID']);
  assert.equal(afterHang['NRestarts'], '2');
  await stillRuns();

  await booted.run('systemctl', 'reload', 'labwired');
  const reloaded = await booted.active(afterHang['MainPID']);
  assert.equal(reloaded['Result'], 'success');
  await stillRuns();

  await booted.run('systemctl', 'stop', 'labwired');
  const stopped = await booted.show();
  assert.deepEqual(
    [stopped['ActiveState'], stopped['Result'], stopped['ExecMainStatus']],
    ['inactive', 'success', '0'],
  );
});
