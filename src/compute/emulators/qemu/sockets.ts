// The Unix sockets of a machine, in its directory: control by QMP, and the first serial port.

export const QMP_SOCKET = 'qmp.sock';
export const SERIAL_SOCKET = 'serial.sock';
