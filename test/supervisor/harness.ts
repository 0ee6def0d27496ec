// A supervisor of a test's own: a real process, gone with the test file.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { SupervisorClient } from '../../src/supervisor/client.ts';

/** A state directory with an identifier, as the store gives one. */
export function supervisorState(): { state: string; instance: string } {
  const state = mkdtempSync(join(tmpdir(), 'labwire-supervisor-'));
  after(() => rmSync(state, { recursive: true, force: true }));
  return { state, instance: randomUUID() };
}

/** The daemon's side of a supervisor that starts with its first program and ends when the tests of the file are over. */
export function testSupervisor(lost: () => Promise<void> = async () => {}): SupervisorClient {
  const { state, instance } = supervisorState();
  const supervisor = new SupervisorClient({ state, instance, lost });
  after(() => supervisor.leave());
  return supervisor;
}
