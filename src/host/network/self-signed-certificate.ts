// Creates certificates with the system's openssl. A self-signed one encrypts, but proves nothing about the server.
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure, messageOf } from '../../failures.ts';
import { createTemporaryDirectory, writeFileAtomically } from '../files/atomic-file.ts';
import { makeDirectory } from '../files/directories.ts';
import { runProgram } from '../processes/run-program.ts';

/** Ten years; browsers warn about it in any case. */
const VALIDITY_DAYS = 3650;

/** A certificate and its key: paths of PEM files. */
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
  const alternatives = names.map((name) => `${/^[\d.]+$|:/.test(name) ? 'IP' : 'DNS'}:${name}`).join(',');
  const { certificate, key } = await createCertificate({
    subject: names[0] ?? '',
    days: VALIDITY_DAYS,
    extensions: [`subjectAltName=${alternatives}`, 'extendedKeyUsage=serverAuth'],
    directory,
    fix: 'install openssl (apt install openssl), or name certfile and certkey in [Server]',
  });
  // The key first: a certificate without its key would be kept but useless.
  await writeFileAtomically(files.key, key, { mode: 0o600 });
  await writeFileAtomically(files.certificate, certificate, { mode: 0o644 });
  return files;
}

export interface CertificateRequest {
  /** Its common name. */
  subject: string;
  days: number;
  /** As openssl writes them, such as `extendedKeyUsage=serverAuth`. */
  extensions: readonly string[];
  /** For temporary files. */
  directory: string;
  /** What to do where openssl is missing. */
  fix: string;
  /** Signs it; without one it is self-signed. */
  issuer?: CertificateFiles;
}

/**
 * A new certificate and its key, both as PEM.
 * @throws Failure `conflict` when openssl is missing or fails
 */
export async function createCertificate({
  subject,
  days,
  extensions,
  directory,
  fix,
  issuer,
}: CertificateRequest): Promise<{ certificate: string; key: string }> {
  await using made = await createTemporaryDirectory(directory);
  const [certificate, key] = [join(made.path, 'certificate'), join(made.path, 'key')];
  const { code, errors } = await runProgram('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
    ...(issuer ? ['-CA', issuer.certificate, '-CAkey', issuer.key] : []),
    ...['-days', String(days), '-subj', `/CN=${subject}`],
    ...extensions.flatMap((extension) => ['-addext', extension]),
    ...['-keyout', key, '-out', certificate],
  ]).catch((thrown: unknown) => {
    throw new Failure('conflict', `A certificate cannot be made (openssl: ${messageOf(thrown)}): ${fix}.`);
  });
  if (code !== 0) throw new Failure('conflict', `openssl has made no certificate: ${errors.trim().split('\n').at(-1)}`);
  return { certificate: await readFile(certificate, 'utf8'), key: await readFile(key, 'utf8') };
}
