// Components that are loaded on first use.
import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { loadPart } from '../model/server/lazy-load.ts';
import { WORDS } from '../words.ts';

/** A placeholder for a component that is loaded when needed. */
export function lazily<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined;
  return function Lazily(props: Props) {
    const isThere = useSignal(loaded !== undefined);
    useEffect(() => {
      if (loaded) return;
      void loadPart(load).then((component) => {
        loaded = component;
        isThere.value = true;
      });
    }, [isThere]);
    const Component = loaded;
    if (isThere.value && Component) return <Component {...props} />;
    return <p role="status">{WORDS.node.loading}</p>;
  };
}
