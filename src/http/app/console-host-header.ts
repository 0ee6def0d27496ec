/** A header in a compute's capabilities with the address of its consoles; not in the release. */
export const CONSOLE_HOST = 'X-Console-Host';
