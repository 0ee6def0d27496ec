// Headers in the answer with a compute's capabilities. As members they would be against the release's schema: a controller of
// 2.2.57 would answer 400 when it is asked about the compute.

/** The address of the compute's consoles. */
export const CONSOLE_HOST = 'X-Console-Host';

/** The UDP port of its links to other hosts by VXLAN, if there is one. */
export const VXLAN_PORT = 'X-Vxlan-Port';
