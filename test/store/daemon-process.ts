// A process that opens a state directory and changes things until it is killed, saying on standard output what was
// acknowledged. Arguments: state directory, project id, first number.
import { writeSync } from 'node:fs';
import { Store } from '../../src/store/store.ts';

const [stateDirectory = '', projectId = '', first = '0'] = process.argv.slice(2);
const say = (line: string) => writeSync(1, `${line}\n`);

const store = await Store.open({ stateDirectory }).catch((error: Error) => {
  say(`refused ${error.message}`);
  process.exit(1);
});
say(`open ${store.instance}`);

/** One after the other, as a client does that waits for each answer. */
async function oneByOne(): Promise<never> {
  for (let number = Number(first); ; number += 1) {
    await store.labs.apply(projectId, [{ node: { node_id: `node-${number}`, number } as { node_id: string } }]);
    say(`node ${number}`);
    if (number % 5 === 0) {
      await store.labs.apply(projectId, [{ delete: 'node', id: `node-${number}` }]);
      say(`deleted ${number}`);
    }
    if (number % 7 === 0) {
      await store.documents.put('templates', `template-${number}`, { number });
      say(`template ${number}`);
    }
  }
}

/** Several at once, of two records that belong together. */
async function together(): Promise<never> {
  for (let number = Number(first); ; number += 1) {
    await Promise.all(
      [0, 1, 2, 3].map(async (part) => {
        const id = `${number}-${part}`;
        await store.labs.apply(projectId, [
          { link: { link_id: `link-${id}` } },
          { drawing: { drawing_id: `drawing-${id}` } },
          { delete: 'link', id: `link-${number - 50}-${part}` },
        ]);
        say(`pair ${id}`);
      }),
    );
  }
}

await Promise.all([oneByOne(), together()]);
