// Tasks whose errors a component shows.
import type { Signal } from '@preact/signals';
import { sentenceOf } from './sentence.ts';

/** Clears the message, runs the task and shows its error. Returns whether it succeeded. */
export async function attempted(message: Signal<string>, task: () => Promise<unknown>): Promise<boolean> {
  message.value = '';
  try {
    await task();
    return true;
  } catch (error) {
    message.value = sentenceOf(error);
    return false;
  }
}
