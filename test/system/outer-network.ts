// A host and the world outside of it, made of network namespaces: what the daemon changes on its host is gone with the test.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { eventually } from './daemon.ts';

/** Of the host on the line to the world, and of the world's end of it. */
export const HOST_ADDRESS = '198.51.100.2';
const WORLD_ADDRESS = '198.51.100.1';
/** An address in the world, and the name that the world's name server has for it. */
export const FAR_ADDRESS = '203.0.113.9';
export const FAR_NAME = 'far.example.test';

function ip(...words: string[]): string {
  return execFileSync('ip', words, { stdio: ['ignore', 'pipe', 'pipe'] }).toString();
}

let made = 0;

export class OuterNetwork {
  /** Names of the namespaces. */
  readonly host: string;
  readonly world: string;
  /** Words before a program that is to run on the host. */
  readonly inside: readonly string[];
  /** Of the host, as the test reaches it. */
  readonly address: string;
  /** What the world's name server was asked: a line a question, with who asked. */
  questions = '';
  readonly #cable: string;
  #names: ChildProcess | undefined;

  private constructor() {
    const own = `${process.pid}-${++made}`;
    this.host = `labwire-host-${own}`;
    this.world = `labwire-world-${own}`;
    this.#cable = `lwo${process.pid}x${made}`;
    this.inside = ['ip', 'netns', 'exec', this.host];
    this.address = `10.233.${(process.pid + made) % 250}.2`;
  }

  /** It is gone when the test ends, however it ends. */
  static async make(t: TestContext): Promise<OuterNetwork> {
    const network = new OuterNetwork();
    t.after(() => network.#remove());
    network.#build();
    await network.#startNameServer();
    return network;
  }

  /** Runs a program on the host, and gives what it prints. */
  run(...words: [string, ...string[]]): string {
    return execFileSync('ip', ['netns', 'exec', this.host, ...words], { stdio: ['ignore', 'pipe', 'pipe'] }).toString();
  }

  /** Runs a program in the world. */
  outside(...words: [string, ...string[]]): void {
    execFileSync('ip', ['netns', 'exec', this.world, ...words], { stdio: ['ignore', 'ignore', 'pipe'] });
  }

  #build(): void {
    for (const name of [this.host, this.world]) {
      ip('netns', 'add', name);
      ip('-n', name, 'link', 'set', 'lo', 'up');
    }
    // `ip netns exec` shows programs within these files in the place of the real ones.
    mkdirSync(`/etc/netns/${this.host}`, { recursive: true });
    writeFileSync(`/etc/netns/${this.host}/resolv.conf`, `nameserver ${WORLD_ADDRESS}\n`);
    ip('link', 'add', this.#cable, 'type', 'veth', 'peer', 'name', 'test', 'netns', this.host);
    ip('addr', 'add', `${this.address.replace(/2$/, '1')}/24`, 'dev', this.#cable);
    ip('link', 'set', this.#cable, 'up');
    ip('-n', this.host, 'addr', 'add', `${this.address}/24`, 'dev', 'test');
    ip('-n', this.host, 'link', 'set', 'test', 'up');
    ip('-n', this.host, 'link', 'add', 'up0', 'type', 'veth', 'peer', 'name', 'down0', 'netns', this.world);
    ip('-n', this.host, 'addr', 'add', `${HOST_ADDRESS}/24`, 'dev', 'up0');
    ip('-n', this.host, 'link', 'set', 'up0', 'up');
    ip('-n', this.world, 'addr', 'add', `${WORLD_ADDRESS}/24`, 'dev', 'down0');
    ip('-n', this.world, 'addr', 'add', `${FAR_ADDRESS}/32`, 'dev', 'lo');
    ip('-n', this.world, 'link', 'set', 'down0', 'up');
    ip('-n', this.host, 'route', 'add', 'default', 'via', WORLD_ADDRESS);
  }

  async #startNameServer(): Promise<void> {
    const words = ['--keep-in-foreground', '--conf-file=/dev/null', '--no-resolv', '--no-hosts', '--log-facility=-'];
    const more = ['--log-queries', `--address=/${FAR_NAME}/${FAR_ADDRESS}`, '--bind-interfaces', '--pid-file'];
    const listen = `--listen-address=${WORLD_ADDRESS}`;
    this.#names = spawn('ip', ['netns', 'exec', this.world, 'dnsmasq', ...words, ...more, listen], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#names.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.questions += text;
    });
    await eventually('the name server', () => /started/.test(this.questions));
  }

  #remove(): void {
    this.#names?.kill('SIGKILL');
    rmSync(`/etc/netns/${this.host}`, { recursive: true, force: true });
    for (const words of [
      ['netns', 'del', this.host],
      ['netns', 'del', this.world],
      ['link', 'del', this.#cable],
    ]) {
      try {
        ip(...words);
      } catch {
        // It was not made, or the kernel took it away with its other end.
      }
    }
  }
}
