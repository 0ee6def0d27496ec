// The terminal makes <style> elements and style attributes, which the page's policy forbids. While it opens, it gets stand-ins for
// the elements, whose rules are constructed style sheets; the attributes go by the object model. The policy allows both.

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

/** From now on `setAttribute('style', …)` of a <span>, by which the terminal colours and selects characters, has its effect. */
export function allowSpanStyles(): void {
  const { prototype } = HTMLSpanElement;
  if (Object.hasOwn(prototype, 'setAttribute')) return;
  prototype.setAttribute = function (name: string, value: string): void {
    if (name === 'style') this.style.cssText = value;
    else Element.prototype.setAttribute.call(this, name, value);
  };
}
