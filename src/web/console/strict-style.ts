// The terminal creates <style> elements and style attributes, which the page's Content Security Policy forbids. While it opens, <style>
// elements are replaced by constructed style sheets; style attributes are set through the object model. The policy allows both.

/** Runs `task`; each <style> that it creates becomes a style sheet of the document. */
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

/** Makes `setAttribute('style', …)` of a <span> work, which the terminal uses to colour and select characters. */
export function allowSpanStyles(): void {
  const { prototype } = HTMLSpanElement;
  if (Object.hasOwn(prototype, 'setAttribute')) return;
  prototype.setAttribute = function (name: string, value: string): void {
    if (name === 'style') this.style.cssText = value;
    else Element.prototype.setAttribute.call(this, name, value);
  };
}
