// What a start of the server waits for and no code of ours does: begun before the rest of the program is read, which takes as long.
import type { Config } from './config/schema.ts';
import { type StartingFabric, startFabric } from './fabric/fabric.ts';
import { Store } from './store/store.ts';

/** Parts of the server that are on their way. Whoever has them ends them, also when they come only later. */
export interface Beginnings {
  fabric: StartingFabric;
  store: Promise<Store>;
}

/** Lets the fabric's first thread start, and opens the state directory. A failure is told to whoever waits for the part. */
export function begin(config: Config): Beginnings {
  const { fabric_threads: threads, native_frame_loop: frameLoop, projects_path: projects } = config.Server;
  const fabric = startFabric({ threads, frameLoop });
  const store = Store.open({ stateDirectory: config.state, projects });
  store.catch(() => {});
  return { fabric, store };
}

/** Ends what has begun; what has failed needs no end. */
export async function abandon({ fabric: { fabric, moving }, store }: Beginnings): Promise<void> {
  await store.then(
    (opened) => opened.close(),
    () => {},
  );
  await moving.then(
    () => fabric.stop(),
    () => {},
  );
}
