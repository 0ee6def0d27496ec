// The picture of a symbol; words beside it say what it is, unless `alt` does.

interface SymbolPictureProps {
  id: string;
  alt?: string;
  size?: number;
  isLazy?: boolean;
}

export function SymbolPicture({ id, alt = '', size = 28, isLazy = false }: SymbolPictureProps) {
  return (
    <img
      class="symbol"
      src={`/v2/symbols/${encodeURIComponent(id)}/raw`}
      alt={alt}
      width={size}
      height={size}
      draggable={false}
      loading={isLazy ? 'lazy' : undefined}
    />
  );
}
