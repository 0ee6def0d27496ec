// The cable between two hosts is pulled: calls end in time, and the lab runs on when it is back.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge, OtherLoad } from '../other-load.ts';
import { DAEMON_HOMES, eventually } from './daemon.ts';
import { Lab } from './lab.ts';
import { reaches } from './pc-typing.ts';
import { labAcross, register, skip, startPair } from './two-daemons-pair.ts';

test('a cable that is pulled ends calls within half a minute, and the lab runs on when it is back', {
  skip,
}, async (t) => {
  const pair = await startPair(t);
  await register(pair);
  const { controller, hosts } = pair;
  const { lab, here, there } = await labAcross(controller);
  await reaches(lab, here, '10.0.0.2');
  hosts.plug(false);
  const [load, start] = [new OtherLoad(DAEMON_HOMES), performance.now()];
  const call = controller.ask('POST', `${lab.path}/nodes/${there.node_id}/reload`);
  // Everything else goes on.
  const other = await Lab.create(controller, 'Other');
  await other.start(await other.pc('PC1'));
  const othersWaited = performance.now() - start;
  const { status, json } = await call;
  assert.deepEqual([status, /no longer answers/.test(json.message)], [409, true], json.message);
  const seconds = (performance.now() - start) / 1000;
  await judge(t, { what: 'others are served', value: othersWaited / 1000, limit: 5, unit: 's', load });
  await judge(t, { what: 'the call ends', value: seconds, limit: 35, unit: 's', load });
  assert.equal((await controller.get('/v2/computes/other')).connected, false);

  hosts.plug(true);
  await eventually(
    'the connection',
    () => controller.get('/v2/computes/other'),
    ({ connected }) => connected,
    20_000,
  );
  assert.equal((await lab.node(there)).status, 'started');
  await reaches(lab, here, '10.0.0.2');
});
