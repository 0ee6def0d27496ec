// Renders a document for the terminal: wrapped, with tables, and with links as the words of the command that opens them.
import type { Token, Tokens } from 'marked';
import { linkTarget } from './documents.ts';
import { documentTable } from './table.ts';
import { filled, wrapped } from './wrap.ts';

export type Look = 'title' | 'strong' | 'emphasis' | 'code' | 'link';

export interface Page {
  /** Columns of the terminal. */
  width: number;
  /** The document's topic, for links without a file. */
  topic: string;
  /** Styles one word; returns it unchanged without colours. */
  style(look: Look, word: string): string;
}

/** Styles each word separately, so that lines can be wrapped anywhere. */
function styled(page: Page, look: Look, text: string): string {
  return text.replaceAll(/[^\s]+/g, (word) => page.style(look, word));
}

/** The target of a link in a form that users can follow. */
function leadsTo(page: Page, href: string): string {
  const target = linkTarget(page.topic, href);
  if (target === undefined) return `<${href.replace(/^(\.\.\/)+/, '')}>`;
  return `[${target.topic}${target.anchor === '' ? '' : `#${target.anchor}`}]`;
}

/** Words of a paragraph; the only newlines are those that the text asks for. */
function inline(page: Page, tokens: readonly Token[] = []): string {
  return tokens
    .map((token): string => {
      switch (token.type) {
        case 'br':
          return '\n';
        case 'html':
          return '';
        case 'codespan':
          return styled(page, 'code', token.text);
        case 'strong':
          return styled(page, 'strong', inline(page, token.tokens));
        case 'em':
          return styled(page, 'emphasis', inline(page, token.tokens));
        case 'image':
          return `[picture: ${token.text}]`;
        case 'link': {
          const said = inline(page, token.tokens);
          // A bare address is shown once.
          return said === token.href ? said : `${said} ${styled(page, 'link', leadsTo(page, token.href))}`;
        }
        default:
          return 'tokens' in token && token.tokens
            ? inline(page, token.tokens)
            : ((token as Tokens.Text).text ?? '').replaceAll('\n', ' ');
      }
    })
    .join('');
}

/** The lines with `first` before the first and as many blanks before the others. */
function behind(first: string, lines: readonly string[]): string[] {
  return lines.map((line, at) => (at === 0 ? first : line === '' ? '' : ' '.repeat(first.length)) + line);
}

function list(page: Page, { items, ordered, start, loose }: Tokens.List): string[] {
  const marks = items.map((_, index) => (ordered ? `${Number(start) + index}. ` : '* '));
  const room = Math.max(...marks.map((mark) => mark.length));
  return items.flatMap((item, index) => {
    const lines = blocks({ ...page, width: page.width - room }, item.tokens, loose);
    return [...(loose && index > 0 ? [''] : []), ...behind(filled(marks[index] ?? '', room), lines)];
  });
}

function block(page: Page, token: Token): string[] {
  switch (token.type) {
    case 'heading': {
      const text = styled(page, 'title', inline(page, token.tokens));
      return wrapped(`${page.style('title', '#'.repeat(token.depth))} ${text}`, page.width);
    }
    case 'code':
      // Not wrapped, so that it can be copied.
      return (token.text as string)
        .trimEnd()
        .split('\n')
        .map((line) => (line === '' ? '' : `    ${line}`));
    case 'list':
      return list(page, token as Tokens.List);
    case 'table': {
      const { header, rows } = token as Tokens.Table;
      const cell = ({ tokens }: Tokens.TableCell): string => inline(page, tokens);
      const headings = header.map((one) => styled(page, 'strong', cell(one)));
      return documentTable(
        headings,
        rows.map((row) => row.map(cell)),
        page.width,
      );
    }
    case 'blockquote':
      return blocks({ ...page, width: page.width - 2 }, token.tokens ?? [], true).map((line) => `| ${line}`);
    case 'hr':
      return ['─'.repeat(page.width)];
    case 'html':
    case 'space':
    case 'def':
      return [];
    default:
      return wrapped(inline(page, 'tokens' in token && token.tokens ? token.tokens : [token]), page.width);
  }
}

/** @param apart whether an empty line is between two blocks */
function blocks(page: Page, tokens: readonly Token[], apart: boolean): string[] {
  const shown = tokens.map((token) => block(page, token)).filter((lines) => lines.length > 0);
  return shown.flatMap((lines, index) => (apart && index > 0 ? ['', ...lines] : lines));
}

/** The lines of a document, or of a part of one. */
export function rendered(page: Page, tokens: readonly Token[]): string[] {
  return blocks(page, tokens, true);
}
