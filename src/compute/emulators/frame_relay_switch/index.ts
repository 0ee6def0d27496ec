// Registers the Frame Relay switch.
import { circuitSwitch } from '../../nodes/ports/circuit-switch.ts';

/** DLCIs 0 and 1023 are reserved for management. */
const HIGHEST_DLCI = 1022;

export const frameRelaySwitch = circuitSwitch({
  type: 'frame_relay_switch',
  device: 'frame-relay-switch',
  form: `"<port>:<DLCI>", with a DLCI from 1 to ${HIGHEST_DLCI}`,

  parse(end) {
    const match = /^(\d{1,5}):(\d{1,4})$/.exec(end);
    if (match === null) return undefined;
    const [port, dlci] = [Number(match[1]), Number(match[2])];
    return dlci >= 1 && dlci <= HIGHEST_DLCI ? { port, dlci } : undefined;
  },

  match: () => true,
});
