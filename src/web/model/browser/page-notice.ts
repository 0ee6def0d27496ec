// A brief notice that every screen shows.
import { signal } from '@preact/signals';

export const pageNotice = signal('');
