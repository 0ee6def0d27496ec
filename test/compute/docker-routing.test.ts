// Routers in containers: FRR speaks OSPF over cables, with a real Docker Engine.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../eventually.ts';
import { cable, container, containers, engine, noEngine, typist } from './docker-support.ts';
import { FRR, importFrr, noFrr, routerCommand } from './frr-image.ts';

const skip = noEngine || noFrr;

test('three routers find each other by OSPF; loss degrades a cable, and when it is taken away the way is another', {
  skip,
}, async (t) => {
  importFrr(engine());
  const { lab, project } = await containers(t);
  const make = (name: string, id: string, addresses: string[]) =>
    container(lab, project, { name, image: FRR, adapters: 2, start_command: routerCommand(id, addresses) });
  const one = await make('R1', '10.1.1.1', ['10.0.12.1/24', '10.0.13.1/24']);
  const two = await make('R2', '10.2.2.2', ['10.0.12.2/24', '10.0.23.2/24']);
  const three = await make('R3', '10.3.3.3', ['10.0.13.3/24', '10.0.23.3/24']);
  const ends = await cable(lab, project, [
    [one, 0],
    [two, 0],
  ]);
  await cable(lab, project, [
    [one, 1],
    [three, 0],
  ]);
  await cable(lab, project, [
    [two, 1],
    [three, 1],
  ]);
  for (const node of [one, two, three]) await lab.expect(204, 'POST', `${node}/start`);
  // zebra wants a right that only the second step of rights has.
  await lab.told('log.warning', ({ message }) => /^R1 was refused something .*SYS_ADMIN/.test(message));
  await eventually(
    'R1',
    () => lab.expect(200, 'GET', one),
    ({ status }) => status === 'started',
  );
  const console = await typist(t, lab, one);
  const route = (wanted: RegExp) =>
    eventually(
      `a route ${wanted}`,
      () => console.run('ip route show 10.2.2.2'),
      (text) => wanted.test(text),
    );
  await route(/via 10\.0\.12\.2 dev eth0/);
  assert.match(await console.run('ping -c 10 -i 0.1 10.2.2.2'), / 0% packet loss/);

  await lab.expect(201, 'PUT', `${one}/adapters/0/ports/0/nio`, { ...ends[0], filters: { packet_loss: [30] } });
  const lossy = await console.run('ping -c 60 -i 0.05 -W 1 10.2.2.2');
  const lost = Number(/(\d+)% packet loss/.exec(lossy)?.[1]);
  assert.ok(lost > 5 && lost < 100, lossy);

  for (const node of [one, two]) await lab.expect(204, 'DELETE', `${node}/adapters/0/ports/0/nio`);
  await route(/via 10\.0\.13\.3 dev eth1/);
  await eventually(
    'answers by the other way',
    () => console.run('ping -c 2 -W 1 10.2.2.2'),
    (text) => text.includes(' 2 packets received'),
  );
  await lab.expect(204, 'POST', `${project}/close`);
});
