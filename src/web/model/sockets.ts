// WebSockets of this server. Where a browser sends no password with them, as Safari, a ticket lets them in.
import { api, socketAddress } from './api.ts';

/** Known since a ticket has helped. */
let needsTicket = false;

/**
 * Opens a WebSocket; resolves when it is open. Messages are binary as `ArrayBuffer`.
 * @param path below `/v2`, without query
 * @throws Refusal, or Error when the server does not open it
 */
export async function openSocket(path: string, query: Readonly<Record<string, string>> = {}): Promise<WebSocket> {
  if (!needsTicket) {
    const socket = await opened(path, query).catch(() => undefined);
    if (socket) return socket;
  }
  const { ticket } = await api.post<{ ticket: string }>('/tickets', { path: `/v2${path}` });
  const socket = await opened(path, { ...query, ticket });
  needsTicket = true;
  return socket;
}

function opened(path: string, query: Readonly<Record<string, string>>): Promise<WebSocket> {
  const search = new URLSearchParams(query).toString();
  const socket = new WebSocket(socketAddress(search === '' ? path : `${path}?${search}`));
  socket.binaryType = 'arraybuffer';
  return new Promise((resolve, reject) => {
    socket.onopen = () => resolve(socket);
    socket.onerror = () => reject(new Error('The server does not open the connection.'));
  });
}
