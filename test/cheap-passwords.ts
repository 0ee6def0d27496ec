// For tests whose accounts are only there to be somebody: passwords that this process stores take 6 ms to check, not 200.
import { COST } from '../src/host/values/password-hash.ts';

COST.ln = 10;
