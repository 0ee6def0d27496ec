// Help: first steps, all keys, the server's version and the licences.
import { useSignal } from '@preact/signals';
import { go } from './address.ts';
import { whyNot } from './model/account/permissions.ts';
import { buildDemonstration } from './model/lab/demonstration.ts';
import { api } from './model/server/api.ts';
import { attempted } from './model/server/attempt.ts';
import { useLoaded } from './model/server/loaded.ts';
import { Button } from './panels/button.tsx';
import { Message } from './panels/message.tsx';
import { PageHeader } from './panels/page-header.tsx';
import { KeysList } from './shell/keys-table.tsx';
import { WORDS } from './words.ts';

const words = WORDS.help;

export function HelpScreen() {
  const message = useSignal('');
  const isBusy = useSignal(false);
  const { value: server, problem, again } = useLoaded(() => api.get<{ version: string }>('/version'), []);
  const demonstrate = async (): Promise<void> => {
    isBusy.value = true;
    await attempted(message, async () => go(`/labs/${await buildDemonstration()}`));
    isBusy.value = false;
  };
  return (
    <div class="screen help">
      <PageHeader title={words.title} />
      <main>
        <Message text={message.value} />
        <Message text={problem.value} again={again} />
        <h2>{words.firstSteps}</h2>
        <ol>
          {words.steps.map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ol>
        <p hidden={whyNot('make') !== ''}>
          <Button
            class="main"
            disabled={isBusy.value}
            onClick={() => void demonstrate()}
            text={WORDS.labs.demonstration}
          />{' '}
          {words.demonstrationHint}
        </p>
        <h2>{WORDS.keys.title}</h2>
        <KeysList />
        <h2>{words.about}</h2>
        <p>{words.server(server.value?.version ?? '')}</p>
        <p>
          {words.licence} <a href="/assets/licences.txt">{words.licences}</a>
        </p>
        <p>
          <a href="/help/docs">{words.documents}</a>
        </p>
        <p>
          <a href="/v2/openapi.json">{words.api}</a>
        </p>
      </main>
    </div>
  );
}
