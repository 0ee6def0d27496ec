// TLS listeners. Not loaded without HTTPS.
import { readFileSync, statSync } from 'node:fs';
import type { Server } from 'node:http';
import { createServer, type ServerOptions } from 'node:https';
import { createSecureContext } from 'node:tls';
import { invalid, messageOf, systemCode } from '../../failures.ts';

/** Paths of PEM files. */
export interface TlsFiles {
  certificate: string;
  key: string;
}

/** @throws Failure `invalid` if the files cannot be read or do not match */
export function createTlsServer(options: ServerOptions, files: TlsFiles): Server {
  return createServer({ ...options, ...readTls(files) });
}

function readTls({ certificate, key }: TlsFiles): { cert: Buffer; key: Buffer } {
  const read = (path: string, name: string): Buffer => {
    try {
      if (!statSync(path).isFile()) throw new Error('it is not a regular file');
      return readFileSync(path);
    } catch (error) {
      throw invalid(`${name} ${path} cannot be read: ${systemCode(error) ?? messageOf(error)}`);
    }
  };
  const files = { cert: read(certificate, 'certfile'), key: read(key, 'certkey') };
  try {
    createSecureContext(files);
  } catch (error) {
    throw invalid(
      `certfile ${certificate} and certkey ${key} are no certificate and its key (${messageOf(error)}): name PEM files that belong together`,
    );
  }
  return files;
}
