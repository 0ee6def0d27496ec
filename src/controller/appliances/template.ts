// Makes the template that an appliance's version describes, with the images of this compute.
import type { Match } from '../../api/routes/appliances.ts';
import { type ApplianceDocument, settingsOf, usageOf, versionsOf } from './document.ts';

export interface TemplateWishes {
  name?: string | undefined;
  compute_id: string;
  /** A symbol of the server. */
  symbol: string;
}

/** The template category of each category of documents. */
const CATEGORIES: Readonly<Record<string, string>> = {
  router: 'router',
  multilayer_switch: 'switch',
  firewall: 'firewall',
  guest: 'guest',
};

/** Members outside the emulator's settings with the same name in templates. */
const PORT_NAMES = ['first_port_name', 'port_name_format', 'port_segment_size'];

/** Settings that select a program on the host and are not settings of a node. */
const CHOICES = ['arch', 'kvm'];

/** Words in `options` that this server adds itself, or that would redirect a node's console away from it. */
const SUPERFLUOUS = /(?:^|\s)(?:-nographic|-nodefaults|-enable-kvm|-serial\s+(?:mon:)?stdio)(?=\s|$)/g;

/** The body of `POST /v2/templates`. */
export function templateOf(document: ApplianceDocument, match: Match, wishes: TemplateWishes): Record<string, unknown> {
  const { emulator, settings } = settingsOf(document)!;
  const { arch, kvm } = settings as { arch?: unknown; kvm?: unknown };
  const own = Object.fromEntries(Object.entries(settings).filter(([member]) => !CHOICES.includes(member)));
  const images = Object.fromEntries(
    match.images.map(({ setting, path }) => [emulator === 'iou' && setting === 'image' ? 'path' : setting, path]),
  );
  const idlepc = versionsOf(document).find(({ name }) => name === match.version)?.idlepc;
  const template: Record<string, unknown> = {
    ...own,
    ...Object.fromEntries(PORT_NAMES.flatMap((member) => (member in document ? [[member, document[member]]] : []))),
    ...images,
    ...(idlepc === undefined ? {} : { idlepc }),
    template_type: emulator,
    name: wishes.name ?? (match.version === null ? document.name : `${document.name} ${match.version}`),
    compute_id: wishes.compute_id,
    symbol: wishes.symbol,
    category: CATEGORIES[String(document['category'])] ?? 'guest',
    default_name_format: emulator === 'dynamips' ? 'R{0}' : '{name}-{0}',
    usage: usageOf(document),
  };
  if (emulator === 'qemu') {
    if (typeof arch === 'string') template['qemu_path'] = `qemu-system-${arch}`;
    if (typeof document['linked_clone'] === 'boolean') template['linked_clone'] = document['linked_clone'];
    template['options'] = optionsOf(settings['options'], kvm);
  }
  return template;
}

function optionsOf(options: unknown, kvm: unknown): string {
  const words = typeof options === 'string' ? options.replaceAll(SUPERFLUOUS, ' ').trim() : '';
  const withoutKvm = kvm === 'disable' && !words.includes('accel=') ? '-machine accel=tcg' : '';
  return [words.replaceAll(/\s{2,}/g, ' '), withoutKvm].filter((part) => part !== '').join(' ');
}
