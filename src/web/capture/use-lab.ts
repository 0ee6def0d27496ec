// The lab of a window that shows captures only.
import { useEffect, useMemo } from 'preact/hooks';
import { Lab } from '../model/lab/lab.ts';

export function useLab(id: string): Lab {
  const lab = useMemo(() => new Lab(id), [id]);
  useEffect(() => {
    lab.start();
    return () => lab.stop();
  }, [lab]);
  return lab;
}
