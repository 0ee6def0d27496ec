// All commands of the client, in the order of the help.
import { test } from '../checks/test.ts';
import type { Noun } from '../frame/command.ts';
import { appliance } from './appliance.ts';
import { capture } from './capture.ts';
import { compute } from './compute.ts';
import { context } from './context.ts';
import { apply, destroy, diff, exporting, plan } from './converge.ts';
import { events } from './events.ts';
import { group } from './group.ts';
import { image } from './image.ts';
import { lab } from './lab.ts';
import { link } from './link.ts';
import { logs } from './logs.ts';
import { node } from './node.ts';
import { snapshot } from './snapshot.ts';
import { template } from './template.ts';
import { token } from './token.ts';
import { top } from './top.ts';
import { wait } from './wait.ts';

export const NOUNS: readonly Noun[] = [
  lab,
  node,
  link,
  capture,
  template,
  appliance,
  compute,
  snapshot,
  image,
  events,
  logs,
  wait,
  context,
  token,
  group,
  top,
  ...[plan, diff, apply, destroy, exporting, test],
];
