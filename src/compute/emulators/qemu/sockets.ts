// The Unix sockets of a machine, in its directory: QMP, and the first serial port.

export const QMP_SOCKET = 'qmp.sock';
export const SERIAL_SOCKET = 'serial.sock';
/** QMP's name of the serial port's character device. */
export const SERIAL_DEVICE = 'gns3-serial';
