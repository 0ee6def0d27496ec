// A line of the audit trail.

/** Mode of the trail's files: nobody else reads them. */
export const MODE = 0o600;
/** Statuses from here on say that nothing was changed. */
export const REFUSED = 400;

/** One change. Never a secret, nor the body of a request. */
export interface AuditLine {
  /** ISO 8601, UTC. */
  time: string;
  /** Name of the account; of a command on the host, the system's user. */
  account: string;
  /** Name of the token that spoke for it. */
  token?: string;
  /** The client's address; `this host` for a command. */
  address: string;
  /** Method and pattern of the route, or the command. */
  action: string;
  /** What it was done to: identifiers and names. */
  objects: Readonly<Record<string, string>>;
  /** Status of the answer; 0 for a command that succeeded. */
  status: number;
  /** Number of the request, as in the log. */
  request?: string;
  /** Refused requests of the account that this line stands for: it shows the last of them. */
  refused?: number;
}

/** Undefined for what is no line. */
export function parsed(text: string): AuditLine | undefined {
  try {
    return JSON.parse(text) as AuditLine;
  } catch {
    return undefined;
  }
}
