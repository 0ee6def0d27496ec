// Registers the ATM switch.
import { circuitSwitch } from '../../nodes/ports/circuit-switch.ts';

const HIGHEST_VPI = 4095;
const HIGHEST_VCI = 65_535;

export const atmSwitch = circuitSwitch({
  type: 'atm_switch',
  device: 'atm-switch',
  form: `"<port>:<VPI>" at both ends of a path, or "<port>:<VPI>:<VCI>" at both ends of a channel, with a VPI up to ${HIGHEST_VPI} and a VCI up to ${HIGHEST_VCI}`,

  parse(end) {
    const match = /^(\d{1,5}):(\d{1,4})(?::(\d{1,5}))?$/.exec(end);
    if (match === null) return undefined;
    const [port, vpi] = [Number(match[1]), Number(match[2])];
    const vci = match[3] === undefined ? undefined : Number(match[3]);
    if (vpi > HIGHEST_VPI || (vci !== undefined && vci > HIGHEST_VCI)) return undefined;
    return vci === undefined ? { port, vpi } : { port, vpi, vci };
  },

  match: (one, other) => (one.vci === undefined) === (other.vci === undefined),
});
