// Markdown as elements of the page. Nothing in the text is taken as HTML: it can neither run nor load anything.
import { lexer, type Token, type Tokens } from 'marked';
import type { ComponentChildren, VNode } from 'preact';
import { WORDS } from '../words.ts';

/** The pane has headings of its own above those of the text. */
const HEADINGS = ['h3', 'h4', 'h5', 'h6'] as const;

export function Markdown({ text }: { text: string }) {
  // Single line breaks count: the notes of other clients are plain text.
  return <div class="markdown">{shown(lexer(text, { breaks: true, gfm: true }))}</div>;
}

function shown(tokens: readonly Token[] = []): ComponentChildren {
  return tokens.map((token, index) => <Shown key={index} token={token as Tokens.Generic} />);
}

function Shown({ token }: { token: Tokens.Generic }): VNode | null {
  const content = token.tokens ? shown(token.tokens) : plain(token['text'] ?? token.raw);
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'heading': {
      const Heading = HEADINGS[Math.min(token['depth'], HEADINGS.length) - 1]!;
      return <Heading>{content}</Heading>;
    }
    case 'paragraph':
      return <p>{content}</p>;
    case 'blockquote':
      return <blockquote>{content}</blockquote>;
    case 'code':
      return (
        <pre>
          <code>{token['text']}</code>
        </pre>
      );
    case 'codespan':
      return <code>{token['text']}</code>;
    case 'strong':
      return <strong>{content}</strong>;
    case 'em':
      return <em>{content}</em>;
    case 'del':
      return <del>{content}</del>;
    case 'br':
      return <br />;
    case 'hr':
      return <hr />;
    case 'list':
      return <List list={token as Tokens.List} />;
    case 'table':
      return <Table table={token as Tokens.Table} />;
    case 'link':
      return <Anchor address={token['href']}>{content}</Anchor>;
    case 'image':
      return <Anchor address={token['href']}>{WORDS.notes.picture(token['text'])}</Anchor>;
    case 'checkbox':
      return null;
    default:
      return <>{content}</>;
  }
}

function List({ list }: { list: Tokens.List }) {
  const items = list.items.map((item, index) => (
    <li key={index}>
      {item.task && <input type="checkbox" checked={item.checked ?? false} disabled aria-label={WORDS.notes.task} />}
      {shown(item.tokens)}
    </li>
  ));
  return list.ordered ? <ol start={Number(list.start)}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ table: { header, rows } }: { table: Tokens.Table }) {
  return (
    <div class="scroll">
      <table class="plain">
        <thead>
          <tr>
            {header.map((cell, index) => (
              <th key={index} scope="col">
                {shown(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, line) => (
            <tr key={line}>
              {row.map((cell, index) => (
                <td key={index}>{shown(cell.tokens)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A link into a tab of its own; other addresses than those of the web are only text. */
function Anchor({ address, children }: { address: string; children: ComponentChildren }) {
  if (!/^(https?|mailto):/i.test(address)) return <>{children}</>;
  return (
    <a href={address} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: '\u00a0' };

function plain(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|nbsp);/g, (_, name: string) => ENTITIES[name]!);
}
