// Creates a self-signed certificate with the system's openssl. It encrypts, but proves nothing about the server.
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure, messageOf } from '../../failures.ts';
import { createTemporaryDirectory, writeFileAtomically } from '../files/atomic-file.ts';
import { makeDirectory } from '../files/directories.ts';
import { runProgram } from '../processes/run-program.ts';

/** Ten years; browsers warn about it in any case. */
const VALIDITY_DAYS = 3650;

/** Paths of PEM files. */
export interface CertificateFiles {
  certificate: string;
  key: string;
}

/**
 * The certificate in `directory` (`certificate.pem`, and `key.pem` readable by this user only), created if missing.
 * @param names host names and IP addresses it is valid for; the first is its subject
 * @throws Failure `conflict` when openssl is missing or fails, or the files cannot be written
 */
export async function ensureSelfSigned(directory: string, names: readonly string[]): Promise<CertificateFiles> {
  const files = { certificate: join(directory, 'certificate.pem'), key: join(directory, 'key.pem') };
  const there = await Promise.all(
    Object.values(files).map((path) =>
      access(path).then(
        () => true,
        () => false,
      ),
    ),
  );
  if (there.every(Boolean)) return files;
  await makeDirectory(directory);
  await using made = await createTemporaryDirectory(directory);
  const [certificate, key] = [join(made.path, 'certificate'), join(made.path, 'key')];
  const alternatives = names.map((name) => `${/^[\d.]+$|:/.test(name) ? 'IP' : 'DNS'}:${name}`).join(',');
  const { code, errors } = await runProgram('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
    ...['-days', String(VALIDITY_DAYS)],
    ...['-subj', `/CN=${names[0]}`, '-addext', `subjectAltName=${alternatives}`],
    ...['-addext', 'extendedKeyUsage=serverAuth', '-keyout', key, '-out', certificate],
  ]).catch((thrown: unknown) => {
    const fix = 'install openssl (apt install openssl), or name certfile and certkey in [Server]';
    throw new Failure('conflict', `A certificate cannot be made (openssl: ${messageOf(thrown)}): ${fix}.`);
  });
  if (code !== 0) throw new Failure('conflict', `openssl has made no certificate: ${errors.trim().split('\n').at(-1)}`);
  // The key first: a certificate without its key would be kept but useless.
  await writeFileAtomically(files.key, await readFile(key), { mode: 0o600 });
  await writeFileAtomically(files.certificate, await readFile(certificate), { mode: 0o644 });
  return files;
}
