// A line of the audit trail.

/** Mode of the trail's files: readable only for the server's user. */
export const MODE = 0o600;
/** From this status on nothing was changed. */
export const REFUSED = 400;

/** One change. Never contains secrets or the body of a request. */
export interface AuditLine {
  /** ISO 8601, UTC. */
  time: string;
  /** Name of the account; for a command on the host, the system's user. */
  account: string;
  /** Name of the token, if one was used. */
  token?: string;
  /** The client's address; `this host` for a command. */
  address: string;
  /** Method and pattern of the route, or the command. */
  action: string;
  /** The affected objects: ids and names. */
  objects: Readonly<Record<string, string>>;
  /** Status of the answer; 0 for a command that succeeded. */
  status: number;
  /** Id of the request, as in the log. */
  request?: string;
  /** The number of refused requests of the account in this line, which shows the last of them. */
  refused?: number;
}

/** Undefined for an invalid line. */
export function parsed(text: string): AuditLine | undefined {
  try {
    return JSON.parse(text) as AuditLine;
  } catch {
    return undefined;
  }
}
