// The list below a field: what can be chosen instead of typing on. The focus stays in the field, which handles the keys.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Button } from './button.tsx';

/** Most offers shown; more typing narrows them. */
export const MOST_OFFERS = 50;

interface OffersProps<T> {
  id: string;
  label: string;
  offers: readonly T[];
  /** Index of the offer that Enter takes; negative if none. */
  chosen: number;
  keyOf(offer: T): string;
  show(offer: T): ComponentChildren;
  take(offer: T): void;
}

export const offerId = (id: string, index: number): string => `${id}-${index}`;

export function Offers<T>({ id, label, offers, chosen, keyOf, show, take }: OffersProps<T>) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.children[chosen]?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  return (
    <div id={id} class="offers" role="listbox" aria-label={label} ref={list} hidden={offers.length === 0}>
      {offers.map((offer, index) => (
        <Button
          tabIndex={-1}
          key={keyOf(offer)}
          id={offerId(id, index)}
          role="option"
          aria-selected={index === chosen}
          onClick={() => take(offer)}
          // Keep the focus in the field.
          onPointerDown={(event) => event.preventDefault()}
          text={show(offer)}
        />
      ))}
    </div>
  );
}
