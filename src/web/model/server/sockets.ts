// WebSockets to this server, for the page and its workers. Browsers that send no password with them, such as Safari, use a ticket.

/** Set once a ticket was needed. */
let needsTicket = false;

/**
 * Opens a WebSocket; resolves when it is open. Binary messages arrive as `ArrayBuffer`.
 * @param path below `/v2`, without query
 * @throws Error when the server does not open it
 */
export async function openSocket(path: string, query: Readonly<Record<string, string>> = {}): Promise<WebSocket> {
  if (!needsTicket) {
    const socket = await opened(path, query).catch(() => undefined);
    if (socket) return socket;
  }
  const socket = await opened(path, { ...query, ticket: await ticketFor(path) });
  needsTicket = true;
  return socket;
}

/** Without `api`, which is larger than a worker needs. */
async function ticketFor(path: string): Promise<string> {
  const answer = await fetch('/v2/tickets', { method: 'POST', body: JSON.stringify({ path: `/v2${path}` }) });
  if (!answer.ok) throw notOpened();
  return ((await answer.json()) as { ticket: string }).ticket;
}

function opened(path: string, query: Readonly<Record<string, string>>): Promise<WebSocket> {
  const address = new URL(`/v2${path}?${new URLSearchParams(query)}`, location.href);
  address.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
  const socket = new WebSocket(address.href);
  socket.binaryType = 'arraybuffer';
  return new Promise((resolve, reject) => {
    socket.onopen = () => resolve(socket);
    socket.onerror = () => reject(notOpened());
  });
}

function notOpened(): Error {
  return new Error('The server does not open the connection.');
}
