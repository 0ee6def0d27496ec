import { refusals } from '../../nodes/exception-name.ts';

export const refusal = refusals('QemuError');
