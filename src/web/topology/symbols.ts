// Symbols as bitmaps, rendered once per symbol.

const SCALE = 2;
/** Width and height of a bitmap at most. */
const MOST_PIXELS = 2048;
const pictures = new Map<string, Promise<string>>();

/** URL of a symbol's picture, for `<image>`. */
export function symbolPicture(symbol: string): Promise<string> {
  const known = pictures.get(symbol);
  if (known) return known;
  const made = draw(`/v2/symbols/${encodeURIComponent(symbol)}/raw`);
  pictures.set(symbol, made);
  return made;
}

async function draw(address: string): Promise<string> {
  try {
    const picture = new Image();
    picture.src = address;
    await picture.decode();
    const canvas = document.createElement('canvas');
    const { naturalWidth: width, naturalHeight: height } = picture;
    const scale = Math.min(SCALE, MOST_PIXELS / Math.max(width, height));
    canvas.width = width * scale;
    canvas.height = height * scale;
    canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height);
    const content = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve));
    return content ? URL.createObjectURL(content) : address;
  } catch {
    return address;
  }
}
