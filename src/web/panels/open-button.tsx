// Opens a closed lab, or says why the logged-in account cannot.
import type { Lab } from '../model/lab/lab.ts';
import { api } from '../model/server/api.ts';
import { WORDS } from '../words.ts';

interface OpenButtonProps {
  lab: Lab;
  class?: string;
  attempt: (task: () => Promise<unknown>) => Promise<boolean>;
}

export function OpenButton({ lab, attempt, class: kind }: OpenButtonProps) {
  if (lab.whyNotChange !== '') return <small>{lab.whyNotChange}</small>;
  return (
    <button
      type="button"
      class={kind}
      onClick={() => void attempt(() => api.post(`${lab.path}/open`)).then(() => lab.read())}
    >
      {WORDS.common.open}
    </button>
  );
}
