// Creates certificates with the system's openssl. A self-signed one encrypts, but proves nothing about the server.
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { conflict, messageOf } from '../../failures.ts';
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

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

/** @throws Failure `conflict` when openssl is missing or fails */
async function openssl(words: readonly string[], fix: string): Promise<void> {
  const { code, errors } = await runProgram('openssl', ['req', ...words]).catch((thrown: unknown) => {
    throw conflict(`A certificate cannot be made (openssl: ${messageOf(thrown)}): ${fix}.`);
  });
  if (code !== 0) throw conflict(`openssl has made no certificate: ${errors.trim().split('\n').at(-1)}`);
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
  await openssl(
    [
      ...NEW_KEY,
      '-keyout',
      key,
      '-out',
      certificate,
      ...termsOf({ subject, days, extensions, ...(issuer && { issuer }) }),
    ],
    fix,
  );
  return { certificate: await readFile(certificate, 'utf8'), key: await readFile(key, 'utf8') };
}

const termsOf = ({
  subject,
  days,
  extensions,
  issuer,
}: Pick<CertificateRequest, 'subject' | 'days' | 'extensions' | 'issuer'>): string[] => [
  ...['-x509', '-days', String(days), '-subj', `/CN=${subject}`],
  ...(issuer ? ['-CA', issuer.certificate, '-CAkey', issuer.key] : []),
  ...extensions.flatMap((extension) => ['-addext', extension]),
];

/** A new key, and a request for another host to sign a certificate of it; both as PEM. */
export async function createSigningRequest(directory: string, fix: string): Promise<{ request: string; key: string }> {
  await using made = await createTemporaryDirectory(directory);
  const [request, key] = [join(made.path, 'request'), join(made.path, 'key')];
  await openssl([...NEW_KEY, '-subj', '/CN=request', '-keyout', key, '-out', request], fix);
  return { request: await readFile(request, 'utf8'), key: await readFile(key, 'utf8') };
}

/** The certificate for the key of a request (PEM). All but the key comes from `terms`. */
export async function signCertificate(
  request: string,
  { directory, fix, ...terms }: CertificateRequest & { issuer: CertificateFiles },
): Promise<string> {
  await using made = await createTemporaryDirectory(directory);
  const [asked, certificate] = [join(made.path, 'request'), join(made.path, 'certificate')];
  await writeFileAtomically(asked, request, { mode: 0o600 });
  await openssl(['-in', asked, '-out', certificate, ...termsOf(terms)], fix);
  return readFile(certificate, 'utf8');
}
