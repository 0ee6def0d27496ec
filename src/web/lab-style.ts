// The styles of labs, consoles and captures, which the list of labs does not need.

let loading: Promise<void> | undefined;

/** Loads them once. A failure is as one of a script: the next call tries again. */
export function loadLabStyle(): Promise<void> {
  loading ??= new Promise((resolve, reject) => {
    const link = document.createElement('link');
    link.rel = 'stylesheet';
    link.href = document.querySelector<HTMLMetaElement>('meta[name="lab-style"]')?.content ?? '';
    link.addEventListener('load', () => resolve());
    link.addEventListener('error', () => {
      link.remove();
      loading = undefined;
      reject(new Error(`${link.href} was not loaded`));
    });
    document.head.append(link);
  });
  return loading;
}
