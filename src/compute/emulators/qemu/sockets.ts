// The Unix sockets of a machine, in its directory: control by QMP, and the first serial port.

export const QMP_SOCKET = 'qmp.sock';
export const SERIAL_SOCKET = 'serial.sock';
/** The character device of the serial port, as QMP names it. */
export const SERIAL_DEVICE = 'gns3-serial';
