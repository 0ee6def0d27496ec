// A holder of a test's own: a real process, gone with the test file.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { HolderClient } from '../../src/holder/client.ts';

/** A state directory with an identifier, as the store gives one. */
export function holderState(): { state: string; instance: string } {
  const state = mkdtempSync(join(tmpdir(), 'labwire-holder-'));
  after(() => rmSync(state, { recursive: true, force: true }));
  return { state, instance: randomUUID() };
}

/** The daemon's side of a holder that starts with its first program and ends when the tests of the file are over. */
export function testHolder(lost: () => Promise<void> = async () => {}): HolderClient {
  const { state, instance } = holderState();
  const holder = new HolderClient({ state, instance, lost });
  after(() => holder.leave());
  return holder;
}
