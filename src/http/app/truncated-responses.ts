// Responses whose content fails midway: an unreadable file, a vanished compute.
import { messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';

/**
 * The same response, but an error in its content closes the connection, so that the client notices. Otherwise the adaptor would write the
 * error into the content, end it normally, and print the stack to standard error.
 */
export function breakingOff(answer: Response, connection: { destroy(): void }, route: string): Response {
  if (answer.body === null) return answer;
  const reader = answer.body.getReader();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          log.debug('an answer broke off', { route, reason: messageOf(error) });
          connection.destroy();
          controller.close();
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { status: answer.status, headers: answer.headers });
}
