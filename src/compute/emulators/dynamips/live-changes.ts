// Applies changes to a running router: cards, if its platform can exchange them, and idle value settings.
import type { RouterRuntime } from './runtime.ts';
import type { RouterSetup } from './settings.ts';

/**
 * @param noted called with each intermediate setup, before its card is removed; the cables of its ports must be gone
 * then
 * @throws Failure `conflict` (`DynamipsError`) with the emulator's message; the last setup noted applies
 */
export async function changeRunning(
  runtime: RouterRuntime,
  before: RouterSetup,
  after: RouterSetup,
  noted: (setup: RouterSetup) => Promise<void>,
): Promise<void> {
  let now = before;
  const put = async (slot: number, card: string | null): Promise<void> => {
    now = { ...now, slots: now.slots.with(slot, card) };
    await noted(now);
  };
  for (const [slot, card] of after.slots.entries()) {
    const former = now.slots[slot] ?? null;
    if (former === card) continue;
    if (former !== null) {
      await put(slot, null);
      await runtime.vm('slot_oir_stop', slot, 0);
      await runtime.vm('slot_remove_binding', slot, 0);
    }
    if (card !== null) {
      await runtime.vm('slot_add_binding', slot, 0, card);
      await runtime.vm('slot_oir_start', slot, 0);
      await put(slot, card);
    }
  }
  const { idlepc, idlemax, idlesleep } = after.settings;
  if (idlepc !== before.settings.idlepc) await runtime.vm('set_idle_pc_online', 0, idlepc || '0x0');
  if (idlemax !== before.settings.idlemax) await runtime.vm('set_idle_max', 0, idlemax);
  if (idlesleep !== before.settings.idlesleep) await runtime.vm('set_idle_sleep_time', 0, idlesleep);
}
