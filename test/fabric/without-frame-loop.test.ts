// The tests of cables and devices once more, with TypeScript moving all frames.
import './frame-loop-off.ts';
import './hub.test.ts';
import './ethernet-switch.test.ts';
import './directions.test.ts';
import './path-mtu.test.ts';
