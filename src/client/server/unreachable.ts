// Explains why a server cannot be reached.
import { messageOf, systemCode } from '../../failures.ts';

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there. Start a server with: labwired serve',
  ENOENT: 'there is no such socket. Start a server with: labwired serve',
  EACCES: 'this socket is for root and the user that runs the server alone: use its http:// address.',
  ENOTFOUND: 'there is no host of this name.',
  EAI_AGAIN: 'the name of the host cannot be looked up at the moment.',
  EHOSTUNREACH: 'there is no way to this host.',
  ENETUNREACH: 'there is no way to this network.',
  ETIMEDOUT: 'the host does not answer.',
  ECONNRESET: 'it closed the connection. Does it want https:// instead of http://?',
  EPIPE: 'it closed the connection.',
};

/** The reason, for a sentence that starts with `... cannot be reached: `. */
export function whyUnreachable(cause: unknown): string {
  const code = systemCode(cause) ?? '';
  const known = REASONS[code];
  if (known !== undefined) return known;
  if (code === 'EPROTO' && /wrong version number|packet length too long/.test(messageOf(cause)))
    return 'it does not speak TLS: write http:// instead of https://';
  if (/CERT|SIGNATURE/.test(code)) {
    return `its certificate is not trusted (${code}). Name the file of one that is with NODE_EXTRA_CA_CERTS=FILE`;
  }
  if (code.startsWith('HPE_')) return 'what answers there does not speak HTTP.';
  return messageOf(cause) || code;
}
