// The display filter: a field that completes the names of protocols, fields and operators at its caret.
import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useId } from 'preact/hooks';
import { MOST_OFFERS, Offers, offerId } from '../panels/offers.tsx';
import { WORDS } from '../words.ts';
import { completionAt } from './filter.ts';

const words = WORDS.capture;

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
  const id = useId();
  const completion = (isAsked = false) =>
    completionAt(field.current!.value, field.current!.selectionStart ?? 0, isAsked);
  const close = (): void => {
    offers.value = [];
    picked.value = -1;
  };
  const open = (isAsked: boolean): void => {
    offers.value = completion(isAsked).offers.slice(0, MOST_OFFERS);
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
          aria-controls={id}
          aria-activedescendant={picked.value < 0 ? undefined : offerId(id, picked.value)}
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
      <Offers
        id={id}
        label={words.names}
        offers={offers.value}
        chosen={picked.value}
        keyOf={(offer) => offer}
        show={(offer) => offer}
        take={take}
      />
    </span>
  );
}
