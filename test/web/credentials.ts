// Who the servers of these tests let in: as a rule they ask for a password, and pages send it.

export interface Credentials {
  user: string;
  password: string;
}

export const CREDENTIALS: Credentials = { user: 'ada', password: 'counts to ten' };

/** Lines that make a server ask for them. */
export const CONFIG_WITH_PASSWORD = `[Server]
auth = true
user = ${CREDENTIALS.user}
password = ${CREDENTIALS.password}
`;

/** The same for a `LabServer`. */
export const SETTINGS_WITH_PASSWORD = { auth: 'true', ...CREDENTIALS };
