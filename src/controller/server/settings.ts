// Server settings outside labs: the IOU licence, sent with each start of such a node, and the GNS3 VM, only stored (as in release 2.2.57).
import { KeyedLock } from '../../host/values/keyed-lock.ts';
import type { Store } from '../../store/store.ts';

type Settings = Record<string, unknown>;

const DEFAULTS = {
  iou_license: { iourc_content: '', license_check: true },
  gns3vm: {
    enable: false,
    vmname: null,
    when_exit: 'stop',
    headless: false,
    engine: 'vmware',
    allocate_vcpus_ram: true,
    ram: 2048,
    vcpus: 1,
    port: 80,
  },
} satisfies Record<string, Settings>;

export type SettingsName = keyof typeof DEFAULTS;

export class ServerSettings {
  readonly #documents: Store['documents'];
  readonly #lock = new KeyedLock();
  readonly #values = new Map<SettingsName, Settings>();

  constructor(documents: Store['documents']) {
    this.#documents = documents;
  }

  async start(): Promise<void> {
    for (const { id, body } of await this.#documents.list('settings')) {
      if (id in DEFAULTS) this.#values.set(id as SettingsName, body as Settings);
    }
  }

  get(name: SettingsName): Settings {
    return this.#values.get(name) ?? DEFAULTS[name];
  }

  /** Changes some members; changes of the same settings run one at a time. */
  update(name: SettingsName, given: Settings): Promise<Settings> {
    return this.#lock.run(name, async () => {
      const settings = { ...this.get(name), ...given };
      await this.#documents.put('settings', name, settings);
      this.#values.set(name, settings);
      return settings;
    });
  }
}
