// A router's configurations as files in its directory: written at its creation, read by the emulator, and saved from
// its memory. Their texts are strings of bytes (Latin-1) here.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeContained } from '../../../host/files/contained-files.ts';
import { readText } from '../../nodes/files.ts';
import type { NodeProject } from '../../nodes/owner.ts';
import { byteString, replaceHostname, replaceWord } from '../../nodes/renaming.ts';
import type { Hypervisor } from './hypervisor.ts';

/** The output of a router without a private configuration. */
const NO_PRIVATE = '\nkerberos password \nend\n';

export class Configurations {
  readonly #project: NodeProject;
  /** The node's directory, relative to the project's. */
  readonly #directory: string;
  readonly #id: number;

  constructor(project: NodeProject, directory: string, id: number) {
    this.#project = project;
    this.#directory = directory;
    this.#id = id;
  }

  /** Relative to the node's directory. */
  get startup(): string {
    return `configs/i${this.#id}_startup-config.cfg`;
  }

  get private(): string {
    return `configs/i${this.#id}_private-config.cfg`;
  }

  /** Writes the configurations of a new router; an empty text writes nothing. `%h` is its name. */
  async write(
    texts: { startup?: string | undefined; private?: string | undefined },
    name: string,
    undo?: AsyncDisposableStack,
  ): Promise<void> {
    const before = undo && (await this.read());
    const restore = (path: string, text: string | undefined): void => {
      const absolute = join(this.#project.path, this.#directory, path);
      undo?.defer(() => (text === undefined ? rm(absolute, { force: true }) : this.#write(path, text)));
    };
    const written = (text: string): string =>
      marked(text.replaceAll('\r', '').replaceAll('%h', () => byteString(name)));
    if (texts.startup) {
      restore(this.startup, before?.startup);
      await this.#write(this.startup, written(texts.startup));
    }
    if (texts.private) {
      restore(this.private, before?.private);
      await this.#write(this.private, written(texts.private));
    }
  }

  /** The same with a client's texts, except for those that the router has: a lab that is reopened has the texts of its creation. */
  async writeFirst(...[texts, name, undo]: Parameters<Configurations['write']>): Promise<void> {
    const { startup, private: secret } = await this.read();
    const bytesOf = (text: string | undefined) => text && byteString(text);
    const first = {
      startup: startup ? undefined : bytesOf(texts.startup),
      private: secret ? undefined : bytesOf(texts.private),
    };
    await this.write(first, name, undo);
  }

  read(): Promise<{ startup: string | undefined; private: string | undefined }> {
    return Promise.all([this.#read(this.startup), this.#read(this.private)]).then(([startup, secret]) => ({
      startup,
      private: secret,
    }));
  }

  /** Writes the new name into them. */
  async rename(before: string, name: string, undo?: AsyncDisposableStack): Promise<void> {
    const { startup, private: secret } = await this.read();
    const renamed = startup && replaceHostname(startup, name);
    if (startup !== undefined && renamed !== undefined && renamed !== startup) {
      undo?.defer(() => this.#write(this.startup, startup));
      await this.#write(this.startup, renamed);
    }
    const other = secret && replaceWord(secret, byteString(before), byteString(name));
    if (other !== undefined && other !== secret) await this.#write(this.private, other);
  }

  /**
   * Saves the configurations from the router's memory. The files stay if it has none. Both texts arrive in base64, in
   * single quotes, after the router's name.
   */
  async save(hypervisor: Hypervisor, vmName: string): Promise<void> {
    const reply = await hypervisor.attempt('vm extract_config', [vmName]);
    const [, startup = '', secret = ''] = /'([A-Za-z0-9+/=]*)' '([A-Za-z0-9+/=]*)'\s*$/.exec(reply?.text ?? '') ?? [];
    const text = decoded(startup).replaceAll('\r', '');
    if (text !== '') await this.#write(this.startup, marked(text));
    const hidden = decoded(secret);
    if (hidden !== '' && hidden.replaceAll('\r', '') !== NO_PRIVATE) await this.#write(this.private, hidden);
  }

  #read(path: string): Promise<string | undefined> {
    return readText(this.#project.path, `${this.#directory}/${path}`, 'latin1');
  }

  async #write(path: string, text: string): Promise<void> {
    const bytes = Buffer.from(text, 'latin1');
    await writeContained(this.#project.path, `${this.#directory}/${path}`, bytes, { createParents: true });
  }
}

/** With a comment in the first line, which the release writes and routers ignore. */
function marked(text: string): string {
  return text.startsWith('!\n') ? text : `!\n${text}`;
}

function decoded(base64: string): string {
  return Buffer.from(base64, 'base64').toString('latin1');
}
