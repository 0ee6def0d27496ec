// The display filter: a field that completes the names of protocols, fields and operators at its caret.
import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { WORDS } from '../words.ts';
import { completionAt } from './filter.ts';

const words = WORDS.capture;
/** Most names shown; more typing narrows them. */
const MOST_SHOWN = 50;

interface FilterFieldProps {
  field: RefObject<HTMLInputElement | null>;
  isWrong: boolean;
  /** Id of the message. */
  describedBy: string;
  filter(text: string): void;
}

export function FilterField({ field, isWrong, describedBy, filter }: FilterFieldProps) {
  const offers = useSignal<readonly string[]>([]);
  /** Index of the offer that Enter takes; none until an arrow key is pressed. */
  const picked = useSignal(-1);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  useEffect(() => {
    list.current?.children[picked.value]?.scrollIntoView({ block: 'nearest' });
  }, [picked.value]);
  const completion = (isAsked = false) =>
    completionAt(field.current!.value, field.current!.selectionStart ?? 0, isAsked);
  const close = (): void => {
    offers.value = [];
    picked.value = -1;
  };
  const open = (isAsked: boolean): void => {
    offers.value = completion(isAsked).offers.slice(0, MOST_SHOWN);
    picked.value = -1;
  };
  const take = (offer: string): void => {
    const { from, to } = completion();
    field.current!.setRangeText(`${offer} `, from, to, 'end');
    field.current!.focus();
    filter(field.current!.value);
    open(false);
  };
  const keys = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const isOpen = offers.value.length > 0;
    if (step !== undefined) {
      if (!isOpen) open(true);
      const { length } = offers.value;
      if (length > 0) picked.value = (Math.max(picked.value, step === 1 ? -1 : 0) + step + length) % length;
    } else if (event.key === 'Enter' && picked.value >= 0) take(offers.value[picked.value]!);
    else if (event.key === 'Enter' || event.key === 'Tab') {
      close();
      return;
    } else if (event.key === 'Escape' && isOpen) close();
    else if (event.key === 'Escape' && field.current!.value !== '') {
      field.current!.value = '';
      filter('');
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <span class="capture-filter">
      <label>
        {words.filter}{' '}
        <input
          ref={field}
          type="text"
          role="combobox"
          aria-autocomplete="list"
          aria-expanded={offers.value.length > 0}
          aria-controls={`${id}-offers`}
          aria-activedescendant={picked.value < 0 ? undefined : `${id}-${picked.value}`}
          placeholder="arp or ip.addr == 10.0.0.1"
          aria-invalid={isWrong}
          aria-describedby={describedBy}
          autocomplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => {
            filter(currentTarget.value);
            open(false);
          }}
          onKeyDown={keys}
          onBlur={close}
        />
      </label>
      <div
        id={`${id}-offers`}
        class="offers"
        role="listbox"
        aria-label={words.names}
        ref={list}
        hidden={offers.value.length === 0}
      >
        {offers.value.map((offer, index) => (
          <button
            type="button"
            tabIndex={-1}
            key={offer}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === picked.value}
            onClick={() => take(offer)}
            // Keep the focus in the field.
            onPointerDown={(event) => event.preventDefault()}
          >
            {offer}
          </button>
        ))}
      </div>
    </span>
  );
}
