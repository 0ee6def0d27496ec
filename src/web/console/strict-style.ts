// The terminal makes <style> elements, which the page's policy forbids. While it opens, it gets stand-ins whose rules are
// constructed style sheets, which the policy allows.

/** Runs `task`; every <style> that it makes becomes a style sheet of the document. */
export function withStrictStyles(task: () => void): void {
  const create = document.createElement;
  const standIn = (): HTMLElement => {
    const sheet = new CSSStyleSheet();
    let text = '';
    const element = create.call(document, 'template');
    Object.defineProperty(element, 'textContent', {
      get: () => text,
      set: (value: string) => {
        text = value;
        sheet.replaceSync(value);
      },
    });
    document.adoptedStyleSheets.push(sheet);
    const remove = element.remove.bind(element);
    element.remove = () => {
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((other) => other !== sheet);
      remove();
    };
    return element;
  };
  document.createElement = ((name: string, options?: ElementCreationOptions) =>
    name === 'style' ? standIn() : create.call(document, name, options)) as typeof document.createElement;
  try {
    task();
  } finally {
    document.createElement = create;
  }
}
