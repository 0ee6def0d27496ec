// Answers whose content breaks off: a file that cannot be read on, a compute that vanishes.
import { messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';

/**
 * The same answer; if its content breaks off so does the connection, and its client sees that something is missing. The adaptor to the
 * network would write the error into the content and end that in due form, and its stack to standard error.
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
