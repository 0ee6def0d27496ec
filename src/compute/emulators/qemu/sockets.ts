// The Unix sockets of a machine, in its directory: QMP, the first serial port, and the channel to the guest agent.

export const QMP_SOCKET = 'qmp.sock';
export const SERIAL_SOCKET = 'serial.sock';
export const AGENT_SOCKET = 'agent.sock';
/** QMP's name of the serial port's character device. */
export const SERIAL_DEVICE = 'gns3-serial';
