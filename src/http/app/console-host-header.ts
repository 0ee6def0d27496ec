/** The header of a compute's capabilities that says on which address its consoles listen; the release does not have it. */
export const CONSOLE_HOST = 'X-Console-Host';
