// Opens a closed lab, or says why the logged-in account cannot.
import type { Lab } from '../model/lab/lab.ts';
import { api } from '../model/server/api.ts';
import { WORDS } from '../words.ts';
import { Button } from './button.tsx';

interface OpenButtonProps {
  lab: Lab;
  class?: string;
  attempt: (task: () => Promise<unknown>) => Promise<boolean>;
}

export function OpenButton({ lab, attempt, class: kind }: OpenButtonProps) {
  if (lab.whyNotChange !== '') return <small>{lab.whyNotChange}</small>;
  return (
    <Button
      class={kind}
      onClick={() => void attempt(() => api.post(`${lab.path}/open`)).then(() => lab.read())}
      text={WORDS.common.open}
    />
  );
}
